#include "cli/selftest.h"

#include <array>
#include <chrono>
#include <ostream>
#include <sstream>
#include <vector>

#include "cli/late_file.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "properties/selftest.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 9> table = {{
    {.name = "runs",
     .value = "N",
     .default_value = "1",
     .help = "batteries of each right subject, with a seed each"},
    {.name = "filter", .value = "NAME", .help = "only this mutant or right subject", .list = true},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the first seed"},
    {.name = "workers", .value = "N", .help = "processes at once [one a core]"},
    {.name = "json", .value = "FILE", .help = "the kill matrix as JSON; - is standard output"},
    {.name = "csv", .value = "FILE", .help = "as CSV: mutant, law, cases; - is standard output"},
    {.name = "markdown", .value = "FILE", .help = "as a table in Markdown; - is standard output"},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Holds the laws to mutants and to right subjects.\n"
    "\n"
    "Usage:  kvcheck selftest [OPTIONS]\n"
    "\n"
    "A mutant is a cache that is wrong on purpose. Every mutant must be killed by some law, every\n"
    "law must kill one, and no right subject may be accused.\n"
    "\n"
    "{options}\n"
    "\n"
    "Exit status: 0 as it should be; 1 a mutant lives, a law kills nothing, or a right subject is\n"
    "accused.\n"
    "\n"
    "Examples:\n"
    "  kvcheck selftest\n"
    "  kvcheck selftest --runs 20 --json matrix.json\n"
    "  kvcheck selftest --filter reservoir-over-slots\n";

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Form {
  const char* option;
  void (*write)(const SelftestReport&, std::ostream&);
  LateFile file{};
};

Result<std::vector<Form>> open_files(const Words& words) {
  std::vector<Form> forms;
  forms.push_back({"json", write_json});
  forms.push_back({"csv", write_csv});
  forms.push_back({"markdown", write_markdown});
  for (Form& form : forms) {
    auto file = LateFile::open(words.value(form.option));
    if (!file) return file.error();
    form.file = *std::move(file);
  }
  return forms;
}

Result<void> write_report(const SelftestReport& report,
                          std::vector<Form>& forms,
                          Streams& streams) {
  bool taken = false;
  for (Form& form : forms) {
    if (!form.file.is_wanted()) continue;
    std::ostringstream text;
    form.write(report, text);
    if (auto done = form.file.write(text.str(), streams); !done) return done;
    taken = taken || form.file.is_standard_output();
  }
  if (!taken) write_text(report, streams.out);
  return {};
}

Result<Outcome> run(std::span<const std::string> given, Streams& streams) {
  const auto words = Words::parse(table, given);
  if (!words) return words.error();
  if (auto none = words->expect_operands("word", 0, 0); !none) return none.error();
  SelftestOptions options;
  options.filter = words->values("filter");
  options.clock = now;
  const auto seed = words->count("seed", 0, ~std::uint64_t{0});
  if (!seed) return seed.error();
  options.seed = seed->value_or(1);
  const auto runs = words->count("runs", 1, 1'000'000);
  if (!runs) return runs.error();
  options.right_runs = static_cast<std::uint32_t>(runs->value_or(1));
  const auto workers = words->count("workers", 1, 1024);
  if (!workers) return workers.error();
  options.workers = static_cast<std::uint32_t>(workers->value_or(0));
  auto files = open_files(*words);
  if (!files) return files.error();
  Progress progress(streams.err, streams.terminal && !words->given("quiet"));
  options.progress = [&](double share, std::string_view what) { progress.update(share, what); };
  const auto report = run_selftest(options);
  if (!report) return report.error();
  progress.clear();
  if (auto done = write_report(*report, *files, streams); !done) return done.error();
  return report->passed() ? Outcome::done : Outcome::law_broken;
}

}  // namespace

constinit const Command selftest_command = {
    .name = "selftest",
    .summary = "hold the laws to mutants and to right subjects",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
