// Both loops and times in one table, by spec.
#include "kvcheck/reports/tables/comparison_table.h"

#include <set>

#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using ::testing::HasSubstr;
using testing::taken;

// A replay of three specs at two budgets, an evaluation of two of them, and a timing of one.
class ComparisonTable : public ::testing::Test {
 protected:
  ComparisonTable() {
    testing::FakeReplay fake = testing::small_fake();
    fake.specs = {"window", "h2o:sinks=4", "reservoir:sinks=4"};
    fake.budgets = {32, 64};
    fake.seeds = {1, 2};
    run_.traces = {testing::fake_replay(fake)};
    run_.traces.front().trace.model = "model";
    ClosedLoopResult evaluation;
    evaluation.model = "folder/model";
    evaluation.text = "text.txt";
    evaluation.series_width = 16;
    for (const std::string spec : {"window", "reservoir:sinks=4"}) {
      for (const std::uint64_t seed : {1U, 2U}) {
        if (spec == "window" && seed == 2) continue;
        add_evaluation(evaluation, spec, 64, seed);
      }
    }
    add_evaluation(evaluation, "window", 32, 1);
    run_.evaluations = {evaluation};
    TimedCell timed{.cell = {.spec = spec_of("window", 64), .seed = 1}, .length = 256};
    timed.attention_s = 12.5e-6;
    run_.timings.resize(1);
    run_.timings.front().cells = {timed};
  }

  static Spec spec_of(const std::string& words, std::uint32_t budget) {
    return taken(parse_spec(words, {.budget = budget}));
  }

  // Perplexity e^seed; every second answer is right.
  static void add_evaluation(ClosedLoopResult& evaluation,
                             const std::string& words,
                             std::uint32_t budget,
                             std::uint64_t seed) {
    ClosedLoopCell cell;
    cell.cell = {.spec = spec_of(words, budget), .seed = seed};
    cell.kv_bytes = 2048;
    cell.series = {{.first = 0, .targets = 16, .nats = 16 * static_cast<double>(seed)}};
    cell.recall = recall_bins();
    cell.recall[2] = {.first = 32, .last = 64, .asked = 10, .right = 5};
    evaluation.cells.push_back(std::move(cell));
  }

  [[nodiscard]] ComparedRuns runs() const { return runs_to_compare({&run_, 1}); }

  // The entry of a row under a column.
  static Entry entry(const Table& table, std::size_t row, std::string_view column) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name == column) return table.rows.at(row).at(i);
    }
    return {"no such column", ""};
  }

  StoredRun run_;
};

TEST_F(ComparisonTable, HasARowForEverySpecOfBothLoops) {
  const Table table = comparison_table(runs());
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(entry(table, 0, "budget").text, "32");
  EXPECT_EQ(entry(table, 1, "budget").text, "64");
  EXPECT_EQ(entry(table, 2, "budget").text, "64");
  const double first = std::stod(entry(table, 1, "retained_mass").exact);
  const double second = std::stod(entry(table, 2, "retained_mass").exact);
  EXPECT_GE(first, second);
}

TEST_F(ComparisonTable, AveragesTheLogarithmsOfSeeds) {
  const Table table = comparison_table(runs());
  for (const std::size_t row : {1U, 2U}) {
    const bool draws = entry(table, row, "policy").text.starts_with("reservoir");
    EXPECT_NEAR(std::stod(entry(table, row, "perplexity").exact), std::exp(draws ? 1.5 : 1), 1e-9);
    EXPECT_EQ(entry(table, row, "recall_32_64").text, "0.500");
    EXPECT_EQ(entry(table, row, "kv_kib").text, "2.0");
    EXPECT_EQ(entry(table, row, "attention_us").text, draws ? "-" : "12.5");
  }
}

TEST_F(ComparisonTable, TestsNeighboursOfOneBudgetOnly) {
  const Table table = comparison_table(runs());
  EXPECT_EQ(entry(table, 0, "p_next").text, "-");
  EXPECT_NE(entry(table, 1, "p_next").text, "-");
  EXPECT_EQ(entry(table, 2, "p_next").text, "-");
}

TEST_F(ComparisonTable, CallsAPresetByItsName) {
  testing::FakeReplay fake = testing::small_fake();
  fake.specs = {"h2o", "streaming:sinks=4;positions=in-cache"};
  fake.budgets = {512};
  run_.traces = {testing::fake_replay(fake)};
  run_.traces.front().trace.model = "model";
  run_.evaluations.front().cells.clear();
  for (const std::string& spec : fake.specs) {
    add_evaluation(run_.evaluations.front(), spec, 512, 1);
  }
  const Table table = comparison_table(runs());
  std::set<std::string> names;
  for (const std::size_t row : {0U, 1U}) names.insert(entry(table, row, "policy").text);
  EXPECT_EQ(names, (std::set<std::string>{"h2o", "@streaming-llm"}));
}

TEST_F(ComparisonTable, NeedsTwoSpecsInCommon) {
  EXPECT_NE(runs().open, nullptr);
  run_.evaluations.front().cells.resize(1);
  EXPECT_EQ(runs().open, nullptr);
}

TEST_F(ComparisonTable, IsOfOneModel) {
  run_.traces.front().trace.model = "another";
  EXPECT_EQ(runs().open, nullptr);
}

TEST_F(ComparisonTable, IsThereInAReportOfOtherRuns) {
  const testing::TemporaryFolder folder;
  auto writer = taken(ResultsWriter::begin(folder.path("run.db"), "kvcheck replay x"));
  ASSERT_TRUE(writer.add(testing::fake_replay(testing::small_fake())));
  ASSERT_TRUE(writer.finish());
  const std::string report = folder.path("report");
  const std::string index = report + "/index.html";
  ASSERT_TRUE(write_report(folder.path("run.db"), 0, report));
  EXPECT_THAT(testing::read_text(index), ::testing::Not(HasSubstr("id=\"comparison\"")));
  ReportExtras extras;
  extras.compared = {run_};
  // Twice: the second report replaces the first.
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(write_report(folder.path("run.db"), 0, report, extras));
    EXPECT_THAT(testing::read_text(index), HasSubstr("<section id=\"comparison\">"));
    EXPECT_THAT(testing::read_text(report + "/comparison/comparison.csv"),
                HasSubstr("p_next,output_error_after,output_error,perplexity,recall_32_64"));
    EXPECT_THAT(testing::read_text(report + "/comparison/comparison.md"), HasSubstr("Holm"));
  }
}

TEST_F(ComparisonTable, SaysWhatItIsOf) {
  EXPECT_THAT(comparison_words(runs()), HasSubstr("model on text.txt"));
  EXPECT_THAT(comparison_words(runs()), HasSubstr("attention of one token"));
  EXPECT_THAT(comparison_words(runs()), HasSubstr("on this machine."));
  // Three repetitions of 12.5, 90 and 20 microseconds.
  std::vector<TimedCell>& timed = run_.timings.front().cells;
  timed.resize(3, timed.front());
  timed[1].attention_s = 90e-6;
  timed[2].attention_s = 20e-6;
  EXPECT_THAT(to_csv(comparison_table(runs())), HasSubstr(",20,"));
  EXPECT_THAT(comparison_words(runs()), HasSubstr("on this machine; the median of 3 runs."));
  run_.timings.clear();
  EXPECT_THAT(comparison_words(runs()), ::testing::Not(HasSubstr("attention of one token")));
}

}  // namespace
}  // namespace kv::reports
