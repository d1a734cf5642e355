#include "kvcheck/cli/evidence/selftest.h"

#include <array>
#include <ostream>
#include <utility>
#include <vector>

#include "kvcheck/base/text/text_stream.h"
#include "kvcheck/cli/options/interrupt.h"
#include "kvcheck/cli/options/late_file.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/own_time.h"
#include "kvcheck/cli/options/progress.h"
#include "kvcheck/properties/stop.h"
#include "kvcheck/reports/figures/figure_kills.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 11> table = {{
    {.name = "runs",
     .value = "N",
     .default_value = "1",
     .help = "batteries of each correct subject, each with a seed of its own"},
    {.name = "filter",
     .value = "NAME",
     .help = "only this mutant or correct subject",
     .list = true},
    {.name = "correct-only",
     .help = "no mutants: a search for findings on correct subjects, with fresh seeds"},
    {.name = "seed", .value = "N", .default_value = "1", .help = "the first seed"},
    {.name = "workers", .value = "N", .help = "processes at once [one a core]"},
    {.name = "json",
     .value = "FILE",
     .help = "write the kill matrix as JSON; - is standard output"},
    {.name = "csv",
     .value = "FILE",
     .help = "write it as CSV (mutant, law, cases); - is standard output"},
    {.name = "markdown",
     .value = "FILE",
     .help = "write it as a page in Markdown; - is standard output"},
    {.name = "plot",
     .value = "DIR",
     .help = "draw the kill matrix in this folder, and write the CSV and the page beside it"},
    {.name = "quiet", .letter = 'q', .help = "no progress"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Runs the laws on faulty caches (mutants) and on correct ones, to test the laws themselves.\n"
    "\n"
    "Usage:  kvcheck selftest [OPTIONS]\n"
    "\n"
    "A mutant is a cache with one known fault. Some law must kill each mutant, each law must kill\n"
    "some mutant, and no law may report a finding on a correct subject.\n"
    "\n"
    "{options}\n"
    "\n"
    "Exit status: 0 all of this is so; 1 a mutant lives, a law kills nothing, or a law reports a\n"
    "finding on a correct subject; 2 usage; 130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  kvcheck selftest\n"
    "  kvcheck selftest --plot docs\n"
    "  kvcheck selftest --runs 20 --json matrix.json\n"
    "  kvcheck selftest --correct-only --runs 200 --seed 500000\n"
    "  kvcheck selftest --filter physical-length-as-count\n";

struct Outputs {
  LateFile json;
  LateFile csv;
  LateFile markdown;
  std::string plot;
};

Result<Outputs> open_outputs(const Arguments& arguments) {
  Outputs outputs;
  outputs.plot = arguments.value("plot");
  const std::array<std::pair<const char*, LateFile*>, 3> files = {
      {{"json", &outputs.json}, {"csv", &outputs.csv}, {"markdown", &outputs.markdown}}};
  std::string printed;
  for (const auto& [option, file] : files) {
    auto opened = LateFile::open(arguments.value(option));
    if (!opened) return opened.error();
    *file = *std::move(opened);
    if (!file->is_standard_output()) continue;
    if (!printed.empty()) {
      return usage_error("--" + printed + " and --" + option + " both name standard output");
    }
    printed = option;
  }
  return outputs;
}

Result<void> write_report(const properties::SelftestResult& report,
                          Outputs& outputs,
                          Streams& streams) {
  TextStream json;
  properties::write_json(report, json);
  const auto matrix = reports::parse_kill_matrix(json.str());
  if (!matrix) return matrix.error();
  const std::array<std::pair<cli::LateFile*, std::string>, 3> files = {
      {{&outputs.json, json.str()},
       {&outputs.csv, reports::kill_matrix_figure(*matrix).csv},
       {&outputs.markdown, reports::kill_matrix_page(*matrix, {})}}};
  bool printed = false;
  for (const auto& [file, text] : files) {
    if (!file->is_requested()) continue;
    if (auto done = file->write(text, streams); !done) return done;
    printed = printed || file->is_standard_output();
  }
  if (!printed) properties::write_text(report, streams.out);
  if (outputs.plot.empty()) return {};
  return reports::draw_kill_matrix(*matrix, outputs.plot);
}

Result<Outcome> run(std::span<const std::string> given, Streams& streams) {
  return selftest_of({}, given, streams);
}

}  // namespace

Result<Outcome> selftest_of(properties::SelftestOptions options,
                            std::span<const std::string> given,
                            Streams& streams) {
  const auto arguments = Arguments::parse(table, given);
  if (!arguments) return arguments.error();
  if (auto none = arguments->expect_operands("word", 0, 0); !none) return none.error();
  options.filter = arguments->values("filter");
  if (arguments->given("correct-only")) options.mutants = {};
  options.clock = OwnTime();
  const auto seed = arguments->count("seed", 0, ~std::uint64_t{0});
  if (!seed) return seed.error();
  options.seed = seed->value_or(1);
  const auto runs = arguments->count("runs", 1, 1'000'000);
  if (!runs) return runs.error();
  options.right_runs = static_cast<std::uint32_t>(runs->value_or(1));
  const auto workers = arguments->count("workers", 1, 1024);
  if (!workers) return workers.error();
  options.workers = static_cast<std::uint32_t>(workers->value_or(0));
  auto outputs = open_outputs(*arguments);
  if (!outputs) return outputs.error();
  const InterruptGuard guard;
  const properties::StopWhen stop(interrupted);
  Progress progress(streams.err, streams.terminal && !arguments->given("quiet"));
  options.progress = [&](double share, std::string_view what) { progress.update(share, what); };
  const auto report = properties::run_selftest(options);
  if (!report) return report.error();
  progress.clear();
  if (auto done = write_report(*report, *outputs, streams); !done) return done.error();
  return report->passed() ? Outcome::done : Outcome::law_broken;
}

constinit const Command selftest_command = {
    .name = "selftest",
    .summary = "run the laws on faulty caches (mutants) and on correct ones",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
