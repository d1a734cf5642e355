// The figures of answers.
#include "kvcheck/reports/figures/figure_tasks.h"

#include <algorithm>
#include <regex>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/tables/task_tables.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/tasks/answers.h"

namespace kv::reports {
namespace {

using namespace ::testing;
using kv::testing::answers;

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
              ElementsAre(StartsWith("2,0.75,")));
  const Interval loss =
      score_mean(score_values(result, result.cells[2], "answer_loss"), score_named("answer_loss"));
  EXPECT_THAT(rows_of(figure, "window (8),answer_loss,"),
              ElementsAre("1," + shortest(loss.mean) + "," + shortest(loss.low) + "," +
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
  EXPECT_THAT(figure.body, HasSubstr("('dense' 0,'window (8)' 1,'h2o compress=prompt (0.5)' 2)"));
  // Of items 12 to 19 the two whose number is a multiple of 4 are wrong.
  EXPECT_THAT(rows_of(figure, "h2o compress=prompt (0.5),far,"),
              ElementsAre(StartsWith("1,2,0.75,")));
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
              AllOf(HasSubstr("('0.5' 0,'1' 1)"), HasSubstr("'window (8)' 1")));
}

// Whatever the names of groups, gnuplot draws them.
TEST(TaskFigures, AreDrawnWithAnyNames) {
  TaskResult result = answers();
  for (std::size_t i = 0; i < 20; ++i) {
    result.items[i].group = i < 10 ? "50 % of 'it' at 0.5" : i < 15 ? "\n\"%g\" at 2" : "";
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
      const bool whole = page.width == 0 && figure.name == "answer-groups";
      EXPECT_TRUE(!whole || svg.find("50 % of") != std::string::npos);
    }
  }
}

TEST(TaskFigures, ItemsWithoutAGroupAreAGroup) {
  TaskResult result = answers();
  for (std::size_t i = 0; i < 20; ++i) result.items[i].group = i < 12 ? "" : "far";
  const std::vector<Figure> figures = task_figures(result);
  const Figure& figure = figure_named(figures, "answer-groups");
  EXPECT_THAT(figure.body, HasSubstr("('(no group)' 0,'far' 1)"));
  EXPECT_THAT(rows_of(figure, "h2o compress=prompt (0.5),(no group),"),
              ElementsAre(StartsWith("0,2,0.75,")));
}

TEST(TaskFigures, TooManyGroupsForAMapAreSaidToBe) {
  TaskResult result = answers();
  for (std::size_t i = 0; i < 20; ++i) result.items[i].group = "group " + std::to_string(i);
  EXPECT_EQ(task_figures(result).size(), 2U);
  const std::vector<Figure> figures = task_figures(result, Sheet().page());
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_THAT(figures.front().caption, HasSubstr("too many for a map"));
}

// Specs that differ in the last of their options have different labels on a narrow page.
TEST(TaskFigures, ShortenedLabelsRemainDifferent) {
  TaskResult result = answers();
  result.cells.resize(1);
  for (const std::string kernel : {"1", "3", "5"}) {
    TaskCell cell = result.cells.front();
    cell.cell.spec = parse_spec("snapkv:recent=8,window=8,kernel=" + kernel + ",budget=16").value();
    result.cells.push_back(cell);
  }
  const std::vector<Figure> figures = task_figures(result, Sheet().page());
  const Figure& figure = figure_named(figures, "answer-scores");
  const std::regex tics("set ytics [^(]*\\('dense' 0,'([^']*)' 1,'([^']*)' 2,'([^']*)' 3\\)");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(figure.body, found, tics));
  EXPECT_THAT(found[1].str(), AllOf(HasSubstr("\xe2\x80\xa6"), EndsWith("=1")));
  EXPECT_THAT(found[3].str(), EndsWith("=5"));
}

// Budgets are ordered by their size, whatever the order of the run.
TEST(TaskFigures, RowsAreOrderedByBudget) {
  TaskResult result = answers();
  std::swap(result.cells[0], result.cells[1]);
  const std::vector<Figure> figures = task_figures(result);
  EXPECT_THAT(figure_named(figures, "answer-scores").body,
              HasSubstr("('dense' 0,'window (8)' 1,'h2o compress=prompt (0.5)' 2)"));
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
