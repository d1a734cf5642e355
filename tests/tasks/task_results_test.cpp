// Answers in the results file, in tables and in comparisons.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/compare/compare_tables.h"
#include "kvcheck/reports/compare/means_table.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/task_tables.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/sql.h"
#include "kvcheck/tests/tasks/answers.h"

namespace kv::reports {
namespace {

using namespace ::testing;
using kv::testing::answers;

class TaskResults : public Test {
 protected:
  void store(const TaskResult& result) const {
    auto writer = ResultsWriter::begin(path_, "kvcheck eval").value();
    ASSERT_TRUE(writer.add(result));
    ASSERT_TRUE(writer.finish());
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
};

TEST_F(TaskResults, ReadBackEqual) {
  store(answers());
  const auto run = read_run(path_);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->tasks.size(), 1U);
  EXPECT_EQ(task_json(run->tasks[0]), task_json(answers()));
  EXPECT_EQ(run->tasks[0].checksum, 7U);
  EXPECT_EQ(run->summary.tasks, 1U);
  EXPECT_EQ(run->summary.cells, 3U);
}

TEST_F(TaskResults, ADiscardedRunLeavesNothing) {
  store(answers());
  auto writer = ResultsWriter::begin(path_, "kvcheck eval").value();
  ASSERT_TRUE(writer.add(answers()));
  ASSERT_TRUE(writer.discard());
  EXPECT_EQ(list_runs(path_)->size(), 1U);
  EXPECT_EQ(test::run_sql(path_, "SELECT * FROM task_answers"), 60U);
}

TEST_F(TaskResults, WhatKvcheckDoesNotWriteIsDamage) {
  for (const std::string change :
       {"task_answers SET exact = 2", "task_answers SET f1 = 1.5", "task_answers SET rank = 4",
        "task_answers SET rank = 0", "task_answers SET loss = -1",
        "task_cells SET spec = 'h2o:x=1'", "task_cells SET seed = 'x'", "tasks SET checksum = 'x'",
        "task_items SET choices = 'x'"}) {
    std::filesystem::remove(path_);
    store(answers());
    EXPECT_EQ(test::run_sql(path_, "UPDATE " + change), 0U);
    const auto run = read_run(path_);
    ASSERT_FALSE(run) << change;
    EXPECT_THAT(run.error().message, HasSubstr("is damaged")) << change;
  }
}

TEST(TaskTables, MeansAreOverItemsThatHaveTheScore) {
  const TaskResult result = answers();
  const auto choice = score_values(result, result.cells[1], "choice");
  EXPECT_EQ(std::ranges::count_if(choice, [](double v) { return std::isnan(v); }), 8);
  const Interval mean = score_mean(choice, scores()[3]);
  EXPECT_DOUBLE_EQ(mean.mean, 9.0 / 12);
  const Interval exact = score_mean(score_values(result, result.cells[1], "exact"), scores()[0]);
  EXPECT_DOUBLE_EQ(exact.mean, 0.75);
  EXPECT_NEAR(exact.low, 0.5313, 1e-3);  // Wilson's interval of 15 in 20
  EXPECT_NEAR(exact.high, 0.8881, 1e-3);
}

// Resamples of answers that are all right would have no width, whatever their number.
TEST(TaskTables, CompareShowsTheSameIntervalsAsEval) {
  StoredRun run;
  run.tasks.push_back(answers());
  std::vector<MeasuredMeans> all;
  for (const Score& score : scores()) {
    const Measure& measure = *measure_named(score.name);
    EXPECT_EQ(measure.share_of_answers, score.is_share) << score.name;
    all.push_back({measure, measured({&run, 1}, measure)});
    for (std::size_t i = 0; i < 3; ++i) {
      const TaskResult& result = run.tasks[0];
      const Interval own = mean_interval(measure, all.back().values.specs[i].values);
      const Interval shown = score_mean(score_values(result, result.cells[i], score.name), score);
      EXPECT_EQ(own.low, shown.low) << score.name;
      EXPECT_EQ(own.high, shown.high) << score.name;
    }
  }
  EXPECT_THAT(to_csv(means_table(all)), HasSubstr(",1,0.838"));  // all of 20: Wilson's lower end
  EXPECT_THAT(means_words(all),
              HasSubstr("Wilson's of shares of answers, the bootstrap's of others"));
}

TEST(TaskTables, GroupsAreInTheOrderOfTheItems) {
  const Table table = groups_table(answers(), "exact");
  ASSERT_EQ(table.columns.size(), 6U);
  EXPECT_EQ(table.columns[4].title, "near (12)");
  EXPECT_EQ(table.columns[5].name, "exact_far");
  EXPECT_THAT(table.rows[1][4].text, StartsWith("0.750 ("));
  EXPECT_EQ(scores_table(answers()).rows.size(), 3U);
}

TEST(TaskTables, ItemsAreComparedAsTexts) {
  StoredRun run;
  run.tasks.push_back(answers());
  const auto found = std::ranges::find(measures(), "exact", &Measure::name);
  const MeasuredTexts all = measured({&run, 1}, *found);
  EXPECT_EQ(all.texts.size(), 20U);
  CompareOptions options;
  options.against = {run.tasks[0].cells[0].cell.spec.canonical()};
  const Comparison comparison = compare_specs(all, *found, options);
  ASSERT_EQ(comparison.rows.size(), 3U);
  for (const ComparedSpec& row : comparison.rows) {
    if (row.canonical == options.against.front()) {
      EXPECT_EQ(row.test.pairs, 0U);  // it has a mean and no test
      continue;
    }
    EXPECT_EQ(row.test.pairs, 20U);
    const double mean = row.canonical.starts_with("h2o") ? -0.25 : -1;
    EXPECT_DOUBLE_EQ(row.test.difference.mean, mean);
  }
  EXPECT_THAT(words_of(comparison), HasSubstr("items"));
}

}  // namespace
}  // namespace kv::reports
