// The oracle's numbers: stored, exported, printed and drawn.
#include "kvcheck/reports/tables/bounds_table.h"

#include <filesystem>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/figures/figures.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/reports/tables/summary_table.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_text;
using testing::small_fake;
using testing::taken;
using testing::TemporaryFolder;

// Bounds that grow with the budget, the same for all policies of one.
ReplayResult with_bounds(bool exact = true) {
  ReplayResult result = fake_replay(small_fake());
  for (CellResult& cell : result.cells) {
    const double budget = cell.cell.spec.bounded() ? cell.cell.spec.budget : 1e9;
    for (const UnitResult& unit : cell.units) {
      const double optimum = 1 - 0.5 / budget;
      cell.bounds.push_back({.layer = unit.layer,
                             .head = unit.head,
                             .heads = 1,
                             .optimum = exact ? optimum : not_measured,
                             .per_step = 1 - 0.25 / budget,
                             .greedy = 1 - 0.75 / budget});
    }
  }
  return result;
}

std::int64_t bounds_in(const std::string& path) {
  auto database = taken(Database::open(path));
  Statement count(database, "SELECT count(*) FROM bounds");
  EXPECT_TRUE(taken(count.next()));
  return count.integer(0);
}

std::int64_t rows_of(const ReplayResult& result) {
  std::size_t rows = 0;
  for (const CellResult& cell : result.cells) rows += cell.bounds.size();
  return static_cast<std::int64_t>(rows);
}

TEST(Bounds, ComeBackFromTheResultsFileAsTheyWere) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  for (const bool exact : {true, false}) {
    const ReplayResult result = with_bounds(exact);
    auto writer = taken(ResultsWriter::begin(path, "x"));
    ASSERT_TRUE(writer.add(result));
    ASSERT_TRUE(writer.finish());
    const StoredRun run = taken(read_run(path));
    EXPECT_EQ(json_lines(run.traces[0], true), json_lines(result, true));
    EXPECT_EQ(to_csv(summary_table(run.traces[0])), to_csv(summary_table(result)));
    EXPECT_EQ(run.traces[0].cells[0].bounds.size(), result.cells[0].bounds.size());
  }
  EXPECT_EQ(bounds_in(path), 2 * rows_of(with_bounds()));
}

TEST(Bounds, GoWhenTheirRunIsDiscarded) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  for (const bool keep : {true, false}) {
    auto writer = taken(ResultsWriter::begin(path, "x"));
    ASSERT_TRUE(writer.add(with_bounds()));
    ASSERT_TRUE(keep ? writer.finish() : writer.discard());
  }
  EXPECT_EQ(bounds_in(path), rows_of(with_bounds()));
}

TEST(Bounds, AreMeansOverHeadsHoweverTheseShareUnits) {
  CellResult cell;
  cell.bounds = {{0, 0, 3, 0.5, 0.75, 0.25}, {0, 3, 1, 0.9, 0.95, 0.85}};
  const OracleMeans means = oracle_of(cell);
  EXPECT_NEAR(means.optimum, (3 * 0.5 + 0.9) / 4, 1e-12);
  EXPECT_NEAR(means.per_step, (3 * 0.75 + 0.95) / 4, 1e-12);
  EXPECT_NEAR(means.greedy, (3 * 0.25 + 0.85) / 4, 1e-12);
}

// Every head is bounded with the largest share that the others may leave it.
TEST(Bounds, AreLooseWhereHeadsShareTheirBudget) {
  ReplayResult result = with_bounds();
  for (CellResult& cell : result.cells) cell.cell.spec.budgets.law = Budgets::Law::adaptive;
  for (const SpecSummary& spec : summarise(result)) {
    EXPECT_TRUE(std::isnan(spec.optimum_share));
    EXPECT_DOUBLE_EQ(spec.least_share, spec.retained_mass.mean / spec.oracle.optimum);
  }
  EXPECT_THAT(summary_text(result), HasSubstr("\xE2\x89\xA5 "));
  const Spec shared = result.cells.front().cell.spec;
  EXPECT_TRUE(std::isnan(optimum_share_of(shared, 0.5, 0.8)));
  EXPECT_DOUBLE_EQ(optimum_share_of(with_bounds().cells.front().cell.spec, 0.5, 0.8), 0.625);
  EXPECT_THAT(json_lines(result, false), HasSubstr("\"optimum_share\":null"));
  EXPECT_THAT(json_lines(with_bounds(), false), Not(HasSubstr("\"optimum_share\":null")));
}

TEST(Bounds, GiveEachPolicyItsShare) {
  const ReplayResult result = with_bounds();
  for (const SpecSummary& spec : summarise(result)) {
    EXPECT_DOUBLE_EQ(spec.optimum_share, spec.retained_mass.mean / spec.oracle.optimum);
    EXPECT_LT(spec.least_share, spec.optimum_share);
  }
  const std::string text = summary_text(result);
  EXPECT_THAT(text, HasSubstr("of optimum"));
  EXPECT_THAT(text, HasSubstr("not a bound"));
  EXPECT_THAT(text, HasSubstr("unit=kv-head;timing=attend-then-trim"));
  EXPECT_THAT(cells_csv(result), HasSubstr(",optimum,optimum_share,per_step_bound,greedy_oracle,"));
  // One row for each of the two budgets, whatever the policies.
  const Table table = bounds_table(result);
  ASSERT_EQ(table.rows.size(), small_fake().budgets.size());
  EXPECT_EQ(table.rows[0][1].text, std::to_string(small_fake().budgets[0]));
}

TEST(Bounds, SayAtLeastWhereTheOptimumIsNotKnown) {
  const std::string text = summary_text(with_bounds(false));
  EXPECT_THAT(text, HasSubstr("\xE2\x89\xA5 0."));
  EXPECT_THAT(text, HasSubstr("longer than --oracle-tokens"));
  EXPECT_TRUE(oracle_figure(sweep_of(with_bounds(false))).body.empty());
}

TEST(Bounds, SayWhyAShareIsAtLeast) {
  ReplayResult shared = with_bounds();
  for (CellResult& cell : shared.cells) cell.cell.spec.budgets.law = Budgets::Law::adaptive;
  EXPECT_THAT(summary_text(shared), HasSubstr("If heads share a budget"));
  ReplayResult selected = with_bounds(false);
  for (CellResult& cell : selected.cells) {
    cell.cell.spec = taken(parse_spec("dense;visibility=top-pages:8/4/0"));
  }
  const std::string text = summary_text(selected);
  EXPECT_THAT(text, HasSubstr("If queries select pages"));
  EXPECT_THAT(text, HasSubstr("visibility=top-pages:8/4/0"));
  EXPECT_THAT(text, Not(HasSubstr("longer than")));
  for (CellResult& cell : selected.cells) cell.cell.spec = taken(parse_spec("dense"));
  EXPECT_EQ(bounds_text(selected, 0), "");
  EXPECT_THAT(summary_text(with_bounds()), Not(HasSubstr("\xE2\x89\xA5")));
}

// In the panel they would cover the curves there.
TEST(Bounds, HaveTheirNamesBelowANarrowFigure) {
  const ReplayResult result = with_bounds();
  Sweep sweep = sweep_of(result);
  EXPECT_THAT(oracle_figure(sweep).body,
              AllOf(HasSubstr("set key bottom"), Not(HasSubstr("'left: optimum'"))));
  sweep.page.width = 476;
  EXPECT_THAT(oracle_figure(sweep).body,
              AllOf(HasSubstr("'left: optimum'"), Not(HasSubstr("set key bottom"))));
  // Nor is its axis as tall as the words beside it on a wide page.
  EXPECT_THAT(oracle_figure(sweep).body, HasSubstr("set ylabel 'of the optimum'"));
  sweep.page.width = 0;
  EXPECT_THAT(oracle_figure(sweep).body, HasSubstr("set ylabel 'share of the optimum'"));
}

TEST(Bounds, TakeNoRoomWhereTheyWereNotAskedFor) {
  const ReplayResult result = fake_replay(small_fake());
  EXPECT_FALSE(has_bounds(result));
  EXPECT_THAT(summary_text(result), Not(HasSubstr("optimum")));
  EXPECT_EQ(bounds_text(result, 0), "");
  EXPECT_TRUE(oracle_figure(sweep_of(result)).body.empty());
}

TEST(Bounds, AreATableAndAFigureOfTheReport) {
  const TemporaryFolder folder;
  const std::string path = folder.path("run.db");
  auto writer = taken(ResultsWriter::begin(path, "x"));
  ASSERT_TRUE(writer.add(with_bounds()));
  ASSERT_TRUE(writer.finish());
  const std::string out = folder.path("out");
  ASSERT_TRUE(write_report(path, 0, out));
  const std::string page = read_text(out + "/index.html");
  EXPECT_THAT(page, HasSubstr("What any cache could have retained"));
  EXPECT_THAT(page, HasSubstr("What any cache could keep"));
  EXPECT_THAT(page, HasSubstr("trace-1/bounds.csv"));
  EXPECT_THAT(read_text(out + "/trace-1/bounds.csv"), HasSubstr("setting,budget,optimum_after,"));
  EXPECT_TRUE(std::filesystem::exists(out + "/trace-1/oracle.svg"));
  EXPECT_THAT(read_text(out + "/trace-1/oracle.csv"), HasSubstr("optimum_share"));
}

}  // namespace
}  // namespace kv::reports
