// Answers in the results file, in tables, in figures and in comparisons.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/compare/compare_tables.h"
#include "kvcheck/reports/compare/means_table.h"
#include "kvcheck/reports/figures/figure_tasks.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/task_tables.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/sql.h"

namespace kv::reports {
namespace {

using namespace ::testing;

// Twenty items in two groups. The second cell answers all but every fourth, the third none.
TaskResult answers() {
  TaskResult result{.model = "folder/model",
                    .architecture = "gpt_neox",
                    .weight_bytes = 5,
                    .context = 256,
                    .file = "folder/items.jsonl",
                    .checksum = 7,
                    .storage = "f16"};
  for (std::size_t i = 0; i < 20; ++i) {
    result.items.push_back({.id = "i" + std::to_string(i),
                            .group = i < 12 ? "near" : "far",
                            .context = 90 + i,
                            .question = 6,
                            .answer = 1,
                            .choices = i < 12 ? std::size_t{3} : 0});
  }
  std::size_t wrong = 0;
  for (const std::string spec : {"dense", "h2o:ratio=0.5;compress=prompt", "window:budget=8"}) {
    TaskCell& cell = result.cells.emplace_back();
    cell.cell = {.spec = parse_spec(spec).value(), .seed = ~std::uint64_t{0}};
    cell.kv_bytes = 1025;
    for (std::size_t i = 0; i < 20; ++i) {
      const bool right = wrong == 0 || (wrong == 1 && i % 4 != 0);
      const double loss = static_cast<double>(wrong) + 0.125 * static_cast<double>(i % 3);
      const std::size_t rank = i >= 12 ? 0 : right ? 1 : 2;
      cell.answers.push_back({.text = right ? "red\n\xc3\xa9" : "",
                              .exact = right,
                              .contains = right,
                              .f1 = right ? 1 : 0.25,
                              .loss = loss,
                              .rank = rank});
    }
    ++wrong;
  }
  return result;
}

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

// The lines of a figure's CSV that begin so, without what they begin with.
std::vector<std::string> rows_of(const Figure& figure, const std::string& begin) {
  std::vector<std::string> rows;
  for (const std::string_view line : split(figure.csv, '\n')) {
    if (line.starts_with(begin)) rows.emplace_back(line.substr(begin.size()));
  }
  return rows;
}

const Figure& figure_named(const std::vector<Figure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  EXPECT_NE(found, figures.end()) << name;
  return *found;
}

// 15 of 20 items are right, and the other numbers are those of score_mean.
TEST(TaskFigures, AnswersHaveARowForEachSpec) {
  const TaskResult result = answers();
  const std::vector<Figure> figures = task_figures(result);
  const Figure& figure = figure_named(figures, "answer-scores");
  EXPECT_THAT(rows_of(figure, "dense,exact,"), ElementsAre(StartsWith("0,1,")));
  EXPECT_THAT(rows_of(figure, "h2o compress=prompt (0.5),exact,"),
              ElementsAre(StartsWith("1,0.75,")));
  const Interval loss =
      score_mean(score_values(result, result.cells[2], "answer_loss"), score_named("answer_loss"));
  EXPECT_THAT(rows_of(figure, "window (8),answer_loss,"),
              ElementsAre("2," + shortest(loss.mean) + "," + shortest(loss.low) + "," +
                          shortest(loss.high)));
  EXPECT_THAT(figure.caption, HasSubstr("In parentheses: the budget"));
}

// Two cells that differ by their seed alone: an item that one of them answers counts as half.
TEST(TaskFigures, SeedsAreAveraged) {
  TaskResult result = answers();
  result.cells[1].cell = {.spec = result.cells[2].cell.spec, .seed = 1};
  const std::vector<Figure> figures = task_figures(result);
  const Figure& figure = figure_named(figures, "answer-scores");
  EXPECT_THAT(rows_of(figure, "window,exact,"), ElementsAre(StartsWith("1,0.375,")));
  EXPECT_THAT(figure.caption, AllOf(HasSubstr("Budget: 8"), HasSubstr("Seeds are averaged")));
}

TEST(TaskFigures, GroupsAreColumns) {
  const std::vector<Figure> figures = task_figures(answers());
  const Figure& figure = figure_named(figures, "answer-groups");
  EXPECT_THAT(figure.body, HasSubstr("('near' 0,'far' 1)"));
  EXPECT_THAT(figure.body, HasSubstr("('dense' 0,'h2o compress=prompt (0.5)' 1,'window (8)' 2)"));
  // Of items 12 to 19 the two whose number is a multiple of 4 are wrong.
  EXPECT_THAT(rows_of(figure, "h2o compress=prompt (0.5),far,"),
              ElementsAre(StartsWith("1,1,0.75,")));
  TaskResult one = answers();
  for (AskedItem& item : one.items) item.group = "near";
  EXPECT_EQ(task_figures(one).size(), 1U);
}

// A map for each spec: places from the begin to the end across, kinds and lengths down.
TEST(TaskFigures, PlacesOfFactsAreAnAxis) {
  TaskResult result = answers();
  const std::vector<std::string> groups = {"needle 200 at 1", "needle 100 at 0.5",
                                           "needle 200 at 0.5", "needle 100 at 1"};
  for (std::size_t i = 0; i < 20; ++i) result.items[i].group = groups[i % 4];
  const std::vector<Figure> figures = task_figures(result);
  const Figure& figure = figure_named(figures, "answer-groups");
  EXPECT_THAT(figure.body,
              AllOf(HasSubstr("('0.5' 0,'1' 1)"), HasSubstr("('needle 200' 0,'needle 100' 1)"),
                    HasSubstr("set title 'h2o compress=prompt (0.5)'")));
  EXPECT_THAT(rows_of(figure, "h2o compress=prompt (0.5),needle 200 at 1,"),
              ElementsAre(StartsWith("1,0,0,")));
  EXPECT_THAT(rows_of(figure, "h2o compress=prompt (0.5),needle 100 at 0.5,"),
              ElementsAre(StartsWith("0,1,1,")));
  for (AskedItem& item : result.items) item.group = item.group.replace(7, 3, "100");
  EXPECT_THAT(figure_named(task_figures(result), "answer-groups").body,
              AllOf(HasSubstr("('0.5' 0,'1' 1)"), HasSubstr("'window (8)' 2")));
}

// Whatever the names of groups, gnuplot draws them.
TEST(TaskFigures, AreDrawnWithAnyNames) {
  TaskResult result = answers();
  for (std::size_t i = 0; i < 20; ++i) {
    result.items[i].group = i < 10 ? "50 % of 'it' at 0.5" : "\n\"%g\" at 2";
  }
  const test::TemporaryFolder folder;
  for (const Page page : {Page{}, Sheet().page(), Page{.width = 480, .height = 150}}) {
    for (const Figure& figure : task_figures(result, page)) {
      const auto done = draw(figure, folder / "");
      ASSERT_TRUE(done) << done.error().message;
      const std::string svg = test::read_text(folder / (figure.name + ".svg"));
      EXPECT_THAT(svg, HasSubstr("dense"));
      EXPECT_TRUE(page.width == 0 || static_cast<double>(figure.width) <= page.width)
          << figure.name;
      EXPECT_TRUE(page.height == 0 || static_cast<double>(figure.height) <= page.height + 1)
          << figure.name;
      EXPECT_TRUE(figure.name != "answer-groups" || svg.find("50 % of") != std::string::npos);
    }
  }
}

// A page too low for all specs has the first ones.
TEST(TaskFigures, SayWhatIsLeftOut) {
  TaskResult result = answers();
  for (std::uint32_t budget = 9; budget < 40; ++budget) {
    result.cells.push_back(result.cells.back());
    result.cells.back().cell.spec.budget = budget;
  }
  for (const Figure& figure : task_figures(result, {.width = 480, .height = 300})) {
    EXPECT_THAT(figure.caption, ContainsRegex("Drawn: the first [0-9]+ of 34 specs"));
    EXPECT_LE(figure.height, 301U);
  }
}

}  // namespace
}  // namespace kv::reports
