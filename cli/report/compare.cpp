#include "kvcheck/cli/report/compare.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/output_file.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/cli/options/terminal.h"
#include "kvcheck/cli/report/about_runs.h"
#include "kvcheck/cli/report/compare_means.h"
#include "kvcheck/cli/report/compared_results.h"
#include "kvcheck/reports/compare/compare_tables.h"
#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::cli {
namespace {

constexpr std::array<Option, 15> table = {{
    {.name = "measure",
     .value = "NAME",
     .help =
         "retained_mass, optimum_share, topk_overlap, output_error or kl_to_dense of replays, "
         "loss, loss_after, recall, recall_near or recall_far of evaluations, open_loop_mass of "
         "those with --open-loop, exact, contains, f1, choice or answer_loss of tasks [all of "
         "these that the files have]; moved_rows of "
         "replays, loss_over_dense of evaluations, first_token_s, token_s, attention_s, kv_bytes "
         "or peak_bytes of timings, only if "
         "named",
     .list = true},
    {.name = "against",
     .value = "SPEC",
     .help =
         "one file: the spec that each is compared with, as tables name it, or a policy, preset "
         "or spec of the file; a name stands for the spec of each budget [of tasks dense, else "
         "the best of each budget]"},
    {.name = "policies",
     .value = "NAME",
     .help = "only these policies: names as tables show them, or policies, presets or specs of the "
             "files, which may leave out sizes and settings [all]",
     .list = true},
    {.name = "window",
     .value = "N",
     .help = "only evaluations of texts in windows of N tokens; 0: not cut"},
    {.name = "length", .value = "N", .help = "only timings after prompts of N tokens"},
    {.name = "layer",
     .value = "N",
     .help = "only the heads of layer N; for measures of replays, and results that keep heads"},
    {.name = "group",
     .value = "NAME",
     .help = "only the items of this group; for measures of tasks"},
    {.name = "means",
     .help = "one file: a table of means with their intervals over texts, without tests"},
    {.name = "margin",
     .value = "X",
     .help = "differences within X count as equal, in the unit of the measure [0.01; of timings a "
             "twentieth of their mean]"},
    {.name = "level",
     .value = "P",
     .default_value = "0.05",
     .help = "the level of all tests of a measure together"},
    {.name = "run", .value = "ID", .help = "one file: only this run [all complete runs]"},
    {.name = "json", .value = "FILE", .help = "write a line of JSON per row; - prints it instead"},
    {.name = "csv", .value = "FILE", .help = "write the rows as CSV; - prints them instead"},
    {.name = "markdown",
     .value = "FILE",
     .help = "write the tables as Markdown; - prints them instead"},
    {.name = "help", .letter = 'h', .help = "this text"},
}};

constexpr std::string_view help =
    "Compares results over texts, with tests: two files, or the specs of one.\n"
    "\n"
    "Usage:  kvcheck compare BEFORE.db AFTER.db [OPTIONS]\n"
    "        kvcheck compare RUN.db [OPTIONS]\n"
    "\n"
    "The unit is a text (a trace, an evaluation, or an item of a task), and of timings a run\n"
    "of kvcheck speed --runs: heads and seeds are averaged first, because they say nothing of\n"
    "other texts. Of two files, each spec is compared with itself on the texts that both\n"
    "have. Of one, it is compared with --against, or else with the best spec of its budget;\n"
    "answers to items, and specs that have their budget to themselves, are compared with\n"
    "dense, if the file has it. A difference is tested by random signs and has a bootstrap\n"
    "interval; equality within the margin is shown by two one-sided t-tests. P-values are\n"
    "corrected for all tests of a measure: of differences by the largest of all under common\n"
    "signs (Westfall and Young), of equality by Holm's method. Replays are measured once\n"
    "evicting, that is over the queries from the first one on that cannot see every token.\n"
    "docs/statistics.md has the methods.\n"
    "\n"
    "{options}\n"
    "\n"
    "Examples:\n"
    "  kvcheck compare main.db branch.db --margin 0.001\n"
    "  kvcheck compare run.db --measure retained_mass --against streaming\n"
    "  kvcheck compare run.db --means --measure retained_mass --measure loss --markdown table.md\n"
    "  kvcheck compare run.db --measure retained_mass --layer 2\n"
    "  kvcheck compare tasks.db --measure exact --group story-fact\n"
    "  kvcheck compare run.db --measure attention_s --length 512 --margin 0.00001\n"
    "  kvcheck compare run.db --json compared.jsonl\n"
    "\n"
    "Exit status: 0 nothing became worse, or one file; 1 a spec is worse in AFTER.db (with fewer\n"
    "than six texts: its mean is worse by more than the margin), or a replayed cache has begun to\n"
    "store more than its budget; 2 usage or bad input; 3 nothing became worse, but AFTER.db lacks\n"
    "a spec, a text, a value or a seed of BEFORE.db, or only its newest run did not finish.\n";

using Runs = std::vector<reports::StoredRun>;

Result<reports::CompareOptions> options_of(const Arguments& arguments,
                                           const std::vector<Runs>& runs,
                                           const reports::Selection& selection) {
  reports::CompareOptions options;
  if (arguments.given("margin")) {
    const auto margin = parse_real(arguments.value("margin"), "--margin", 0, 1e12);
    if (!margin) return margin.error();
    options.margin = *margin;
  }
  const auto level = parse_real(arguments.value("level"), "--level", 1e-6, 0.5);
  if (!level) return level.error();
  options.level = *level;
  if (!arguments.given("against")) return options;
  const std::string words = arguments.value("against");
  auto meant = specs_meant("--against", words, runs);
  if (!meant) return meant.error();
  const auto left_out = [&](const std::string& canonical) {
    const auto spec = parse_spec(canonical);
    return spec && selection.accepts && !selection.accepts(*spec);
  };
  std::erase_if(*meant, left_out);
  if (meant->empty()) {
    return usage_error("--against names '" + words + "', which --policies leaves out");
  }
  options.against = *std::move(meant);
  return options;
}

Result<reports::Comparison> comparison_of(const std::vector<Runs>& runs,
                                          const reports::Measure& measure,
                                          const reports::Selection& selection,
                                          reports::CompareOptions options) {
  const reports::MeasuredTexts first = reports::measured(runs.front(), measure, selection);
  if (runs.size() == 2) {
    reports::Selection of_second = selection;
    of_second.models = first.models;
    return reports::compare_files(first, reports::measured(runs[1], measure, of_second), measure,
                                  options);
  }
  auto against = measured_among(options.against, first);
  if (!against) return against.error();
  options.against = *std::move(against);
  return reports::compare_specs(first, measure, options);
}

struct Compared {
  std::vector<reports::Comparison> comparisons{};  // that have rows
  std::vector<std::string> lost{};   // what the second file lacks, of these or of other measures
  std::vector<std::string> grown{};  // specs that have begun to store more
};

// Measures of one kind lack the same.
void add_once(const std::string& sentence, std::vector<std::string>& sentences) {
  if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
}

Result<Compared> comparisons_of(const Arguments& arguments,
                                const std::vector<Runs>& runs,
                                std::span<const reports::Measure> measures,
                                const reports::Selection& selection,
                                std::ostream& notes) {
  const auto options = options_of(arguments, runs, selection);
  if (!options) return options.error();
  Compared compared;
  std::vector<reports::Comparison>& comparisons = compared.comparisons;
  std::vector<std::string> lacking;
  std::string apart;  // what each file alone has
  for (const reports::Measure& measure : measures) {
    auto comparison = comparison_of(runs, measure, selection, *options);
    if (!comparison) return comparison.error();
    for (const std::string& sentence : comparison->lost) add_once(sentence, compared.lost);
    if (!comparison->grown.empty()) add_once(comparison->grown, compared.grown);
    if (!comparison->rows.empty()) {
      comparisons.push_back(*std::move(comparison));
    } else if (arguments.given("measure") || !comparison->left_out.empty()) {
      lacking.emplace_back(measure.name);
      if (apart.empty()) apart = join(comparison->left_out, ". ");
    }
  }
  const std::span<const std::string> files = arguments.operands();
  const std::string why = files.size() == 2
                              ? files[0] + " and " + files[1] + " have no text and spec in common"
                              : files[0] + " has no two specs to compare";
  std::string because = apart.empty() ? "" : ". " + apart;
  if (files.size() == 1 && !arguments.given("against") && !apart.empty()) {
    because += "; --against names a spec to compare all with";
  }
  const std::string what =
      files.size() == 2 ? " that such a measure is known of" : " in such a measure";
  if (comparisons.empty()) return usage_error(why + what + because);
  if (lacking.empty()) return compared;
  notes << "Note: " << why << " in " << join(lacking, ", ") << because << ".\n";
  return compared;
}

Result<void> write_files(const std::vector<reports::Comparison>& comparisons,
                         const Outputs& outputs,
                         Streams& streams) {
  std::string json;
  std::string csv;
  std::string markdown;
  for (const reports::Comparison& comparison : comparisons) {
    json += reports::to_json_lines(comparison);
    const std::string rows = reports::to_csv(reports::table_of(comparison));
    csv += csv.empty() ? rows : rows.substr(rows.find('\n') + 1);  // one header
    markdown += "### " + comparison.title() + "\n\n" +
                reports::to_markdown(reports::table_of(comparison)) + "\n" +
                reports::words_of(comparison) + "\n\n";
  }
  return write_texts({{outputs.json, json}, {outputs.csv, csv}, {outputs.markdown, markdown}},
                     streams.out);
}

Result<Outcome> run(std::span<const std::string> line, Streams& streams) {
  const auto arguments = Arguments::parse(table, line);
  if (!arguments) return arguments.error();
  if (auto right = arguments->expect_operands("a results file", 1, 2); !right) {
    return right.error();
  }
  const Outputs outputs{.results = {},
                        .json = arguments->value("json"),
                        .csv = arguments->value("csv"),
                        .markdown = arguments->value("markdown")};
  if (auto fine = check_outputs(outputs, arguments->operands()); !fine) return fine.error();
  const auto measures = measures_of(*arguments);
  if (!measures) return measures.error();
  const auto runs = files_of(*arguments);
  if (!runs) return runs.error();
  const auto selection = selection_of(*arguments, *runs, *measures);
  if (!selection) return selection.error();
  if (arguments->given("means")) {
    if (arguments->given("against")) {
      return usage_error("--means has no tests; expected no --against beside it");
    }
    const auto done = compare_means({.file = arguments->operands()[0],
                                     .runs = runs->front(),
                                     .measures = *measures,
                                     .named = arguments->given("measure")},
                                    *selection, outputs, streams);
    if (!done) return done.error();
    return Outcome::done;
  }
  const auto compared = comparisons_of(*arguments, *runs, *measures, *selection, streams.err);
  if (!compared) return compared.error();
  const std::vector<reports::Comparison>& comparisons = compared->comparisons;
  if (auto done = write_files(comparisons, outputs, streams); !done) return done.error();
  for (const reports::Comparison& comparison : comparisons) {
    if (outputs.on_standard_output()) continue;
    streams.out << comparison.title() << ", " << comparison.measure.counted(comparison.texts)
                << "\n\n"
                << to_text(reports::table_of(comparison), streams.columns) << "\n"
                << folded(reports::words_of(comparison), streams.columns) << "\n\n";
  }
  std::vector<std::string> lost = about_runs(arguments->operands(), *runs, streams.err);
  lost.insert(lost.end(), compared->lost.begin(), compared->lost.end());
  const auto say = [&](const std::string& what, const std::vector<std::string>& sentences) {
    if (sentences.empty()) return;
    streams.err << "kvcheck compare: " << what << ": " << join(sentences, ". ") << "\n";
  };
  say("worse", compared->grown);
  say("the second file is not complete", lost);
  if (reports::any_worse(comparisons)) return Outcome::law_broken;
  if (lost.empty()) return Outcome::done;
  return Outcome::incomplete;
}

}  // namespace

constinit const Command compare_command = {
    .name = "compare",
    .summary = "compare results over texts, with tests: two files, or the specs of one",
    .help = help,
    .run = run,
    .options = table,
};

}  // namespace kv::cli
