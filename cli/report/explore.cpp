#include "kvcheck/cli/report/explore.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/traces/trace.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 4> table = {{
    {.name = "output", .letter = 'o', .value = "FILE", .help = "the page to write"},
    {.name = "trace",
     .value = "FILE",
     .help = "a trace of the run, whose words the page shows [the numbers of the positions]",
     .list = true},
    {.name = "run", .value = "ID", .help = "the run to show [the newest replay]"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Writes a page that steps through the streams of a replay, and shows what caches keep.\n"
    "\n"
    "Usage:  kvcheck explore RUN.db -o PAGE.html [OPTIONS]\n"
    "\n"
    "RUN.db is a results file that kvcheck replay wrote with -o. The page needs no other file and\n"
    "no network. It shows the residents of a unit after any number of tokens, and what is evicted\n"
    "at each step, for the first seed of each spec. Arrow keys step, n and p jump to the next and\n"
    "the previous eviction, and the address of the page names what it shows. Of a long stream the\n"
    "results file has one unit only; kvcheck replay says how many it has recorded.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck explore run.db -o explore.html\n"
    "  kvcheck explore run.db --trace traces/data/tinystories-2m.qkv.safetensors -o explore.html\n";

Result<reports::StoredRun> run_of(const Arguments& arguments, const std::string& path) {
  const auto id = arguments.count("run", 1, std::numeric_limits<std::int64_t>::max());
  if (!id) return id.error();
  if (*id) return reports::read_run(path, static_cast<std::int64_t>(**id));
  const auto runs = reports::list_runs(path);
  if (!runs) return runs.error();
  std::int64_t newest = 0;
  for (const reports::RunSummary& run : *runs) {
    if (run.traces > 0) newest = run.id;
  }
  return reports::read_run(path, newest);
}

// Words under a wrong checksum would show another text than the one that was replayed.
Result<reports::ExplorerText> text_of(const std::string& path, const reports::StoredRun& run) {
  const auto trace = open_trace(path);
  if (!trace) return trace.error();
  const std::uint64_t checksum = trace->info().checksum;
  const bool replayed = std::ranges::any_of(
      run.traces, [&](const ReplayResult& result) { return result.trace.checksum == checksum; });
  if (!replayed) {
    return usage_error("--trace names '" + path + "' with the checksum " + hexadecimal(checksum) +
                       ", which run " + std::to_string(run.summary.id) +
                       " did not replay; expected a trace of the run");
  }
  if (trace->transcript().text_ends.empty()) {
    return usage_error("--trace names '" + path +
                       "', which has no words; expected a trace with the tensor of its text");
  }
  return reports::ExplorerText{.checksum = checksum, .transcript = trace->transcript()};
}

Result<void> run(std::span<const std::string> line, Streams& streams) {
  const auto arguments = Arguments::parse(table, line);
  if (!arguments) return arguments.error();
  const auto right = arguments->expect_operands("a results file", 1, 1);
  if (!right) return right.error();
  const std::string output = arguments->value("output");
  if (output.empty()) return usage_error("the page has no name; name one with -o PAGE.html");
  if (auto can = check_output(output); !can) return can;
  const auto stored = run_of(*arguments, arguments->operands()[0]);
  if (!stored) return stored.error();
  std::vector<reports::ExplorerText> texts;
  for (const std::string& path : arguments->values("trace")) {
    auto text = text_of(path, *stored);
    if (!text) return text.error();
    texts.push_back(*std::move(text));
  }
  const auto page = reports::explorer_page(*stored, texts);
  if (!page) return page.error();
  if (auto done = write_output(output, *page); !done) return done;
  streams.out << "Page: " << output << '\n';
  return {};
}

}  // namespace

constinit const Command explore_command = {
    .name = "explore",
    .summary = "write a page that steps through the streams of a replay",
    .help = help,
    .run = done_unless_error<run>,
    .options = table,
};

}  // namespace kv::cli
