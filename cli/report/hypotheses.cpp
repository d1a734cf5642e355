#include "kvcheck/cli/report/hypotheses.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/file.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/result_outputs.h"
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
    "Decides statements about results, which a file wrote down with their conditions.\n"
    "\n"
    "Usage:  kvcheck hypotheses FILE.json [OPTIONS]\n"
    "\n"
    "A condition asks that a mean over texts, the difference or the ratio of two specs, or how "
    "far\n"
    "seeds differ, lies above or below a number; or that a law holds; or that a sample is "
    "uniform.\n"
    "Results are files of replay, eval, sweep, and the JSON of check and uniformity. A condition\n"
    "holds if the whole 95 % interval over texts is where it asks for, does not hold if none of "
    "it\n"
    "is, and is not decided otherwise, or with fewer than six texts. A hypothesis holds if all of\n"
    "its conditions do, and in part if others do not. docs/statistics.md describes the file.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck hypotheses docs/claims.json --markdown verdicts.md\n"
    "  kvcheck hypotheses promises.json --strict\n"
    "\n"
    "Exit status: 0 decided; with --strict 1 one does not hold, 3 one is not decided; 2 usage or\n"
    "bad input.\n";

Result<std::vector<reports::DecidedHypothesis>> decided_in(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  const auto bytes = file->bytes();
  const auto hypotheses =
      reports::parse_hypotheses({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!hypotheses) return hypotheses.error();
  return reports::decide(*hypotheses, path);
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
  if (auto fine = check_outputs(outputs, arguments->operands()); !fine) return fine.error();
  const auto decided = decided_in(arguments->operands()[0]);
  if (!decided) return decided.error();
  for (const auto& [path, text] : {std::pair(outputs.json, reports::hypotheses_lines(*decided)),
                                   {outputs.markdown, reports::hypotheses_markdown(*decided)}}) {
    if (path == "-") {
      streams.out << text;
    } else if (!path.empty()) {
      if (auto done = write_output(path, text); !done) return done.error();
    }
  }
  if (!outputs.on_standard_output()) {
    streams.out << reports::hypotheses_text(*decided, streams.columns);
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
