#include "kvcheck/cli/report/explore.h"

#include <array>
#include <filesystem>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/report/explored_trace.h"
#include "kvcheck/cli/report/unfinished_runs.h"
#include "kvcheck/reports/explorer/explorer.h"
#include "kvcheck/reports/store/results.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 6> table = {{
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .help = "the page to write; - is standard output [RUN.html, here]"},
    {.name = "trace",
     .value = "FILE",
     .help =
         "a trace of the run, or its synthetic:..., for words, attention, scores and slots [the "
         "page has the numbers of positions only]",
     .list = true},
    {.name = "unit",
     .value = "LAYER/HEAD",
     .help = "the cache of each spec whose attention, scores and slots the page has, by its first "
             "head, or all [the first of the last layer]"},
    {.name = "seed",
     .value = "N",
     .help = "the seed of policies that draw, of whose caches the page has these [all recorded]"},
    {.name = "run",
     .value = "ID",
     .help = "the run to show [the newest replay, a complete one "
             "if there is one]"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Writes a page that steps through the streams of a replay, and shows what caches keep.\n"
    "\n"
    "Usage:  kvcheck explore RUN.db [-o PAGE.html] [OPTIONS]\n"
    "\n"
    "RUN.db is a results file that kvcheck replay wrote with -o. The page needs no other file and\n"
    "no network. It shows the residents of a unit after any number of tokens and what is evicted\n"
    "at each step, for each recorded seed; two caches with their difference; and one trim in four\n"
    "stages. Arrow keys step, n and p jump to the next and the previous eviction, and the address\n"
    "of the page names what it shows. Attention, scores and slots are computed anew from --trace,\n"
    "whose checksum must be that of the run. Of a long stream, or of many seeds, the results file\n"
    "has one unit only.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck explore run.db\n"
    "  kvcheck explore run.db --trace traces/data/tinystories-2m.qkv.safetensors -o explore.html\n"
    "  kvcheck explore run.db --trace synthetic:needle:tokens=1024 --unit all -o explore.html\n";

// What browsers open in about two seconds.
constexpr std::size_t largest_page = 15'000'000;

Result<reports::StoredRun> run_of(const Arguments& arguments, const std::string& path) {
  const auto id = arguments.count("run", 1, std::numeric_limits<std::int64_t>::max());
  if (!id) return id.error();
  if (*id) return reports::read_run(path, static_cast<std::int64_t>(**id));
  const auto runs = reports::list_runs(path);
  if (!runs) return runs.error();
  const auto* const newest = reports::newest_run(*runs, &reports::RunSummary::traces);
  return reports::read_run(path, newest == nullptr ? 0 : newest->id);
}

// Without -o the page of DIR/run.db is run.html, here.
std::string page_name(const Arguments& arguments) {
  if (arguments.given("output")) return arguments.value("output");
  const std::filesystem::path results = arguments.operands()[0];
  return results.filename().replace_extension(".html").string();
}

Result<void> run(std::span<const std::string> line, Streams& streams) {
  const auto arguments = Arguments::parse(table, line);
  if (!arguments) return arguments.error();
  const auto right = arguments->expect_operands("a results file", 1, 1);
  if (!right) return right.error();
  const std::string output = page_name(*arguments);
  const auto unit = unit_choice(arguments->value("unit"), arguments->value("seed"));
  if (!unit) return unit.error();
  for (const char* const option : {"unit", "seed"}) {
    if (!arguments->given(option) || arguments->given("trace")) continue;
    return usage_error("--" + std::string(option) +
                       " needs a trace to replay; name it with --trace FILE");
  }
  const bool piped = output == "-";
  if (auto can = piped ? Result<void>() : check_output(output); !can) return can;
  const auto stored = run_of(*arguments, arguments->operands()[0]);
  if (!stored) return stored.error();
  std::vector<reports::ExplorerTrace> traces;
  for (const std::string& word : arguments->values("trace")) {
    auto trace = explored_trace(word, *stored, *unit);
    if (!trace) return trace.error();
    traces.push_back(*std::move(trace));
  }
  const auto page = reports::explorer_page(*stored, traces);
  if (!page) return page.error();
  if (auto done = write_texts({{output, *page}}, streams.out); !done) return done;
  (piped ? streams.err : streams.out) << "Page: " << output << '\n';
  note_unfinished(arguments->operands()[0], {&stored->summary, 1}, arguments->given("run"),
                  streams.err);
  if (page->size() > largest_page) {
    streams.err << "Note: the page has " << page->size() / 1'000'000
                << " MB and may open slowly; --unit LAYER/HEAD and --seed N take the steps of one "
                   "cache only.\n";
  }
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
