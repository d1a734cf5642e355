// Evaluations in the results file, as tables and as a report.
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figure_closed_loop.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using testing::fake_evaluation;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using testing::taken;
using testing::TemporaryFolder;

class ClosedLoopReport : public ::testing::Test {
 protected:
  void store(const std::vector<ClosedLoopResult>& results, const std::string& command) {
    auto writer = taken(ResultsWriter::begin(db_, command));
    for (const ClosedLoopResult& result : results) ASSERT_TRUE(writer.add(result));
    ASSERT_TRUE(writer.finish());
  }

  void store_replay() {
    auto writer = taken(ResultsWriter::begin(db_, "kvcheck replay x"));
    ASSERT_TRUE(writer.add(testing::fake_replay(testing::small_fake())));
    ASSERT_TRUE(writer.finish());
  }

  TemporaryFolder folder_;
  std::string db_ = folder_.path("run.db");
  std::string out_ = folder_.path("out");
};

// A table has a column for each bin of the first cell.
TEST_F(ClosedLoopReport, RefusesCellsThatWereAskedOtherQuestions) {
  store({fake_evaluation(64, true)}, "kvcheck eval");
  for (const char* change : {"UPDATE eval_recall SET first_distance = 7 WHERE cell = 3",
                             "DELETE FROM eval_recall WHERE cell = 2"}) {
    auto database = taken(Database::open(db_));
    ASSERT_TRUE(database.execute(change));
    const auto run = read_run(db_);
    ASSERT_FALSE(run) << change;
    EXPECT_THAT(run.error().message, HasSubstr("column eval_recall.first_distance does not hold"));
  }
}

TEST_F(ClosedLoopReport, TheResultsFileGivesBackWhatItGot) {
  const std::vector<ClosedLoopResult> results = {fake_evaluation(512, true),
                                                 fake_evaluation(64, false)};
  store(results, "kvcheck eval");
  const StoredRun run = taken(read_run(db_));
  EXPECT_EQ(run.summary.traces, 0U);
  EXPECT_EQ(run.summary.evaluations, 2U);
  EXPECT_EQ(run.summary.cells, 10U);
  ASSERT_EQ(run.evaluations.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(closed_loop_json(run.evaluations[i]), closed_loop_json(results[i]));
    EXPECT_EQ(closed_loop_series_csv(run.evaluations[i]), closed_loop_series_csv(results[i]));
    EXPECT_EQ(run.evaluations[i].checksum, results[i].checksum);
    EXPECT_EQ(run.evaluations[i].weight_bytes, results[i].weight_bytes);
    EXPECT_EQ(run.evaluations[i].context, results[i].context);
    EXPECT_EQ(run.evaluations[i].architecture, results[i].architecture);
    EXPECT_EQ(run.evaluations[i].longest, results[i].longest);
    EXPECT_EQ(run.evaluations[i].inputs, results[i].inputs);
  }
}

TEST_F(ClosedLoopReport, ADiscardedRunLeavesNothing) {
  store({fake_evaluation(64, true)}, "kvcheck eval");
  {
    auto writer = taken(ResultsWriter::begin(db_, "kvcheck eval again"));
    ASSERT_TRUE(writer.add(fake_evaluation(64, true)));
    ASSERT_TRUE(writer.discard());
  }
  EXPECT_EQ(taken(list_runs(db_)).size(), 1U);
  auto database = taken(Database::open(db_));
  Statement count(database,
                  "SELECT (SELECT count(*) FROM eval_recall),"
                  " (SELECT count(*) FROM eval_series), (SELECT count(*) FROM eval_after)");
  ASSERT_TRUE(*count.next());
  EXPECT_EQ(count.integer(0), 35);
  EXPECT_EQ(count.integer(1), 20);
  EXPECT_EQ(count.integer(2), 2);  // of the two budgets of 32: those of 64 lose nothing
}

TEST_F(ClosedLoopReport, MoreTargetsAfterTheFirstLossThanTargetsAreDamage) {
  store({fake_evaluation(512, true)}, "kvcheck eval");
  auto database = taken(Database::open(db_));
  ASSERT_TRUE(database.execute("UPDATE eval_after SET targets = 513 WHERE cell = 2"));
  const auto run = read_run(db_);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("column eval_after.targets does not hold"));
}

// The whole loss of a mass falls on the queries after the first loss, which cannot lose more.
TEST_F(ClosedLoopReport, FewerQueriesThanLoseTheirMassAreDamage) {
  ClosedLoopResult evaluation = fake_evaluation(512, true);
  for (ClosedLoopCell& cell : evaluation.cells) cell.retained_mass = 0.5;
  const std::size_t half = (evaluation.tokens + 1) / 2;
  evaluation.cells[1].queries_after = half;
  store({evaluation}, "kvcheck eval");
  const auto run = read_run(db_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->evaluations[0].cells[1].queries_after, half);
  EXPECT_EQ(run->evaluations[0].cells[2].queries_after, 0U);
  auto database = taken(Database::open(db_));
  for (const std::size_t queries : {half - 3, evaluation.tokens + 1}) {
    const std::string change = "UPDATE eval_open_loop SET queries = " + std::to_string(queries);
    ASSERT_TRUE(database.execute(change.c_str()));
    const auto wrong = read_run(db_);
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr("column eval_open_loop.queries does not hold"));
  }
}

TEST_F(ClosedLoopReport, AChecksumThatIsNoneIsDamage) {
  store({fake_evaluation(512, true)}, "kvcheck eval");
  auto database = taken(Database::open(db_));
  ASSERT_TRUE(database.execute("UPDATE eval_inputs SET cell = 'x'"));
  const auto run = read_run(db_);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("column eval_inputs.cell does not hold"));
}

TEST_F(ClosedLoopReport, TheNewestOfEachKindMakeOneReport) {
  store({fake_evaluation(512, true)}, "kvcheck eval old");
  store({fake_evaluation(512, true), fake_evaluation(512, false)}, "kvcheck eval new");
  store_replay();
  ASSERT_TRUE(write_report(db_, 0, out_));
  const std::string page = read_text(out_ + "/index.html");
  EXPECT_THAT(page, HasSubstr("kvcheck eval new"));
  EXPECT_THAT(page, HasSubstr("kvcheck replay x"));
  EXPECT_THAT(page, Not(HasSubstr("kvcheck eval old")));
  EXPECT_THAT(page, HasSubstr("closed: the model ran on what each policy kept"));
  EXPECT_THAT(page, HasSubstr("model &lt;m&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<m>")));
  EXPECT_THAT(page, Not(HasSubstr("could not draw")));
  for (const std::string name :
       {"trace-1/budget.svg", "evaluation-1/perplexity.svg", "evaluation-1/recall.png",
        "evaluation-1/budget.csv", "evaluation-1/recall.md", "evaluation-2/perplexity.csv"}) {
    EXPECT_TRUE(std::filesystem::exists(out_ + "/" + name)) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(out_ + "/evaluation-2/recalls.csv"));
  // One run alone, in the place of the other report.
  ASSERT_TRUE(write_report(db_, 1, out_));
  EXPECT_FALSE(std::filesystem::exists(out_ + "/trace-1"));
  EXPECT_THAT(read_text(out_ + "/index.html"), HasSubstr("kvcheck eval old"));
}

TEST(ClosedLoopText, TablesShowPerplexityAndRecall) {
  const ClosedLoopResult result = fake_evaluation(512, true);
  const std::string text = to_text(perplexity_table(result), 0);
  EXPECT_THAT(text, HasSubstr("0-256"));
  EXPECT_THAT(text, HasSubstr("256-512"));
  EXPECT_THAT(text, HasSubstr("2.718"));
  const Table perplexities = perplexity_table(result);
  const Table recall = recall_table(result);
  std::vector<std::string> titles;
  for (const Column& column : recall.columns) titles.push_back(column.title);
  EXPECT_THAT(titles, ElementsAre("policy", "", "budget", "16-32 (8)", "64-96 (5)"));
  EXPECT_EQ(recall.rows[4][3].text, "0.500");
  EXPECT_TRUE(recall_table(fake_evaluation(512, false)).rows.empty());
  EXPECT_EQ(text_of(result), "text.txt, 513 tokens in 1 window of at most 256");
}

Entry entry_under(const Table& table, const std::string& name, std::size_t row) {
  const auto at = std::ranges::find(table.columns, name, &Column::name);
  if (at == table.columns.end()) return {"no column", "no column"};
  return table.rows[row][static_cast<std::size_t>(at - table.columns.begin())];
}

TEST(ClosedLoopText, OnceEvictingStandsBesideDenseOverTheSameTargets) {
  const ClosedLoopResult result = fake_evaluation(512, true);
  const Table table = perplexity_table(result);
  EXPECT_EQ(table.columns.back().name, "targets_after");
  EXPECT_EQ(entry_under(table, "perplexity_after", 0).text, "-");
  EXPECT_EQ(entry_under(table, "dense_perplexity_after", 0).text, "-");
  EXPECT_EQ(entry_under(table, "targets_after", 0).text, "-");
  EXPECT_NEAR(std::stod(entry_under(table, "perplexity_after", 1).exact), std::exp(1.375), 1e-9);
  EXPECT_EQ(entry_under(table, "targets_after", 1).text, "480");
  // The window's 32 first targets have 512 * 1.25 - 480 * 1.375 nats, and dense's 512 targets 512.
  EXPECT_NEAR(std::stod(entry_under(table, "dense_perplexity_after", 1).exact),
              std::exp((512 - (512 * 1.25 - 480 * 1.375)) / 480), 1e-9);
  EXPECT_THAT(perplexity_words(result), HasSubstr("or each row with dense there."));
}

TEST(ClosedLoopText, OnceEvictingStandsAloneWithoutADenseThatStoresAlike) {
  ClosedLoopResult result = fake_evaluation(512, true);
  result.cells[0].cell.spec = taken(parse_spec("dense;storage=kivi2"));
  Table table = perplexity_table(result);
  EXPECT_EQ(entry_under(table, "dense_perplexity_after", 1).text, "no column");
  EXPECT_EQ(table.columns.back().name, "targets_after");
  EXPECT_THAT(perplexity_words(result), EndsWith("compare rows with as many targets."));
  result.cells.resize(1);
  table = perplexity_table(result);
  EXPECT_EQ(table.columns.back().name, "kv_kib");
  EXPECT_EQ(perplexity_words(result), "");
}

TEST(ClosedLoopText, TheOnlyRangeOfTargetsIsNotShownBesideAllTargets) {
  const Table one = perplexity_table(fake_evaluation(256, true));
  EXPECT_THAT(to_text(one, 0), Not(HasSubstr("0-256")));
  EXPECT_THAT(to_csv(one), HasSubstr(",perplexity,perplexity_0-256,"));
  EXPECT_EQ(perplexity_title(fake_evaluation(256, true)), "perplexity");
  EXPECT_THAT(to_text(perplexity_table(fake_evaluation(512, true)), 0), HasSubstr("0-256"));
}

TEST(ClosedLoopText, CsvHasEveryCellUnderOneHeader) {
  const std::vector<ClosedLoopResult> results = {fake_evaluation(512, true),
                                                 fake_evaluation(64, false)};
  const std::string csv = closed_loop_csv(results);
  const auto lines = split(csv, '\n');
  ASSERT_EQ(lines.size(), 1U + 10 + 1);
  for (std::size_t i = 0; i < 11; ++i) {
    // A spec has commas of its own, between quotes.
    const auto parts = split(lines[i], '"');
    std::ptrdiff_t commas = 0;
    for (std::size_t part = 0; part < parts.size(); part += 2) {
      commas += std::ranges::count(parts[part], ',');
    }
    EXPECT_EQ(commas, 30) << lines[i];
  }
  // Columns are added at the end (docs/versions.md).
  EXPECT_THAT(
      lines[0],
      AllOf(HasSubstr(",perplexity,kv_bytes,retained_mass,asked_1-16,"),
            EndsWith(",right_256-65536,targets_after,perplexity_after,retained_mass_after")));
  const ClosedLoopCell& cell = results[0].cells[1];
  EXPECT_THAT(lines[2], EndsWith("," + std::to_string(cell.targets_after) + "," +
                                 shortest(cell.perplexity_after()) + ","));
}

TEST(ClosedLoopText, SaysHowWeightsKeysAndValuesWereStored) {
  ClosedLoopResult result = fake_evaluation(512, true);
  result.architecture = "llama; layers' weights as nf4";
  result.storage = "kivi2, keys raw";
  EXPECT_THAT(closed_loop_line(result),
              HasSubstr("(layers' weights as nf4; keys and values as kivi2, keys raw) on "));
  EXPECT_THAT(closed_loop_csv({&result, 1}), HasSubstr(",llama; layers' weights as nf4,"));
  EXPECT_THAT(closed_loop_json(result), AllOf(HasSubstr("\"storage\":\"kivi2, keys raw\""),
                                              HasSubstr("layers' weights as nf4")));
  result.architecture = "llama";
  result.storage = "f32";
  EXPECT_THAT(closed_loop_line(result), HasSubstr(result.model + " on "));
}

TEST(ClosedLoopFigures, ShowEachPolicyAndSayWhatWasMeasured) {
  const std::vector<Figure> figures = closed_loop_figures(fake_evaluation(512, true));
  std::vector<std::string> names;
  for (const Figure& figure : figures) {
    names.push_back(figure.name);
    EXPECT_THAT(figure.caption, HasSubstr("Closed loop: model <m>"));
    EXPECT_THAT(figure.caption, HasSubstr("text.txt"));
    EXPECT_THAT(figure.csv, HasSubstr("\nwindow"));
  }
  EXPECT_THAT(names, ElementsAre("perplexity", "budget", "recall"));
  EXPECT_THAT(figures[2].csv, HasSubstr("dense,16,32,8,0,0,0,0.3244"));
  EXPECT_THAT(figures[1].csv, HasSubstr("h2o:sinks=4,recall,64,0\n"));
  EXPECT_EQ(closed_loop_figures(fake_evaluation(512, false)).size(), 2U);
  EXPECT_TRUE(closed_loop_figures({}).empty());
}

}  // namespace
}  // namespace kv::reports
