#include "kvcheck/cli/report/hypotheses.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/file.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/reports/hypotheses/decide.h"
#include "kvcheck/reports/hypotheses/hypotheses_text.h"
#include "kvcheck/reports/hypotheses/hypothesis.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 4> table = {{
    {.name = "strict",
     .help = "exit status 1 if a hypothesis does not hold, or only in part, and 3 if one is not "
             "decided"},
    {.name = "json",
     .value = "FILE",
     .help = "write a line of JSON per hypothesis; - prints it instead"},
    {.name = "markdown",
     .value = "FILE",
     .help = "write the verdicts as Markdown; - prints them instead"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Decides statements about results that a file wrote down before.\n"
    "\n"
    "Usage:  kvcheck hypotheses FILE.json [OPTIONS]\n"
    "\n"
    "A condition asks that a number lies above or below a bound: the mean of a spec over\n"
    "texts, the difference or the ratio of two specs, how much seeds differ, or the power with\n"
    "which a time grows. Or it asks that a law holds, or that a sample is uniform. Results are\n"
    "files of replay, eval, sweep and speed, and the JSON lines of check and uniformity. A\n"
    "condition holds if the whole 95 % interval lies within its bounds, does not hold if all\n"
    "of it lies outside, and is not decided otherwise, or with fewer than six texts or runs. A\n"
    "hypothesis holds if all of its conditions do, and in part if some do and others do not.\n"
    "docs/statistics.md describes the file.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck hypotheses docs/claims.json --markdown verdicts.md\n"
    "  kvcheck hypotheses promises.json --strict\n"
    "\n"
    "Exit status: 0, whatever the verdicts; with --strict 1 if one does not hold or only in part,\n"
    "else 3 if one is not decided; 2 usage or bad input.\n";

Result<std::vector<reports::Hypothesis>> hypotheses_in(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  return reports::parse_hypotheses({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                   path);
}

// The file itself, and all results that it names.
std::vector<std::string> inputs_of(const std::string& path,
                                   const std::vector<reports::Hypothesis>& hypotheses) {
  std::set<std::string> inputs = {path};
  for (const reports::Hypothesis& hypothesis : hypotheses) {
    for (const reports::Condition& condition : hypothesis.conditions) {
      inputs.insert(condition.results);
    }
  }
  return {inputs.begin(), inputs.end()};
}

Outcome outcome_of(const std::vector<reports::DecidedHypothesis>& decided) {
  const auto any = [&](reports::Verdict verdict) {
    return std::ranges::any_of(
        decided, [&](const reports::DecidedHypothesis& one) { return one.verdict == verdict; });
  };
  if (any(reports::Verdict::fails) || any(reports::Verdict::in_part)) return Outcome::law_broken;
  return any(reports::Verdict::undecided) ? Outcome::incomplete : Outcome::done;
}

Result<Outcome> run(std::span<const std::string> line, Streams& streams) {
  const auto arguments = Arguments::parse(table, line);
  if (!arguments) return arguments.error();
  if (auto right = arguments->expect_operands("a file of hypotheses", 1, 1); !right) {
    return right.error();
  }
  const Outputs outputs{.results = {},
                        .json = arguments->value("json"),
                        .csv = {},
                        .markdown = arguments->value("markdown")};
  const std::string& path = arguments->operands()[0];
  const auto hypotheses = hypotheses_in(path);
  if (!hypotheses) return hypotheses.error();
  if (auto fine = check_outputs(outputs, inputs_of(path, *hypotheses)); !fine) return fine.error();
  const auto decided = reports::decide(*hypotheses, path);
  if (!decided) return decided.error();
  const auto done = write_texts({{outputs.json, reports::hypotheses_lines(*decided)},
                                 {outputs.markdown, reports::hypotheses_markdown(*decided)}},
                                streams.out);
  if (!done) return done.error();
  if (!outputs.on_standard_output()) {
    streams.out << folded(reports::hypotheses_text(*decided), streams.columns);
  }
  return arguments->given("strict") ? outcome_of(*decided) : Outcome::done;
}

}  // namespace

constinit const Command hypotheses_command = {
    .name = "hypotheses",
    .summary = "decide statements about results that a file wrote down before",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
