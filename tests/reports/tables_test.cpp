#include "kvcheck/reports/tables/summary_table.h"

#include <algorithm>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/escape.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using testing::small_fake;

Table hostile() {
  return {.columns = {{.title = "policy", .name = "policy"},
                      {.title = "", .name = "spec", .exact_only = true},
                      {.title = "n", .name = "count", .number = true}},
          .rows = {{{"<b>|a", "<b>|a"}, {"", "x,y"}, {"1.5", "1.4999"}},
                   {{"longer", "longer"}, {"", "z"}, {"-", ""}}}};
}

TEST(Tables, AlignColumnsForATerminal) {
  EXPECT_EQ(to_text(hostile(), 0),
            "policy    n\n"
            "<b>|a   1.5\n"
            "longer    -\n");
}

TEST(Tables, HaveExactNumbersAndEveryColumnInCsv) {
  EXPECT_EQ(to_csv(hostile()), "policy,spec,count\n<b>|a,\"x,y\",1.4999\nlonger,z,\n");
}

TEST(Tables, EscapePipesInMarkdownAndTagsInHtml) {
  EXPECT_EQ(to_markdown(hostile()),
            "| policy | n |\n| --- | ---: |\n| \\<b\\>\\|a | 1.5 |\n| longer | - |\n");
  const std::string html = to_html(hostile());
  EXPECT_NE(html.find("<td>&lt;b&gt;|a</td><td class=\"n\" data-value=\"1.4999\">1.5</td>"),
            std::string::npos)
      << html;
}

TEST(Tables, NeverGetWiderThanTheTerminal) {
  const ReplayResult result = fake_replay(small_fake());
  for (const std::size_t width : {60U, 80U, 100U, 200U}) {
    const std::string text = to_text(summary_table(result), width);
    for (const std::string_view line : split(text, '\n')) {
      EXPECT_LE(display_width(line), width) << text;
    }
  }
}

TEST(Tables, KeepEveryColumnInANarrowTerminal) {
  const Table table = summary_table(fake_replay(small_fake()));
  const std::string wide = to_text(table, 0);
  const std::string narrow = to_text(table, 60);
  for (const Column& column : table.columns) {
    EXPECT_TRUE(column.exact_only || narrow.find(column.title) != std::string::npos) << column.name;
  }
  for (const auto& row : table.rows) {
    for (std::size_t c = 1; c < row.size(); ++c) {
      if (table.columns[c].exact_only) continue;
      EXPECT_NE(narrow.find(row[c].text), std::string::npos) << row[c].text;
    }
  }
  // Every part of the table begins with the policy and the budget.
  std::size_t parts = 1;
  for (std::size_t at = 0; (at = narrow.find("\n\n", at)) != std::string::npos; ++at) {
    ++parts;
    EXPECT_EQ(narrow.substr(at + 2, 6), "policy");
  }
  EXPECT_GE(parts, 2U);
  EXPECT_EQ(wide.find("\n\n"), std::string::npos);
}

testing::FakeReplay long_fake() {
  testing::FakeReplay fake = small_fake();
  fake.tokens = 128;
  return fake;
}

TEST(SummaryTable, IsSortedByBudgetAndMassWithCachesThatStoreMoreApart) {
  ReplayResult result = fake_replay(long_fake());
  // One of the two policies holds twice its budget, and would be the first by its mass.
  for (CellResult& cell : result.cells) {
    const bool larger = cell.cell.spec.policy->name == "reservoir";
    const std::uint64_t budget = cell.cell.spec.budget;
    for (UnitResult& unit : cell.units) unit.stored_peak = larger ? 2 * budget : budget + 1;
    for (HeadResult& head : cell.heads) head.metrics.retained_mass = larger ? 0.99 : 0.9;
  }
  const Table table = summary_table(result);
  ASSERT_EQ(table.rows.size(), 5U);  // dense, and two policies at two budgets, seeds together
  const Table within = rows_that_store(table, false);
  const Table more = rows_that_store(table, true);
  ASSERT_EQ(within.rows.size(), 2U);
  ASSERT_EQ(more.rows.size(), 3U);
  for (const auto& row : within.rows)
    EXPECT_FALSE(row[0].text.starts_with("reservoir")) << row[0].text;
  EXPECT_EQ(within.rows[0][2].text, "12");
  EXPECT_EQ(within.rows[1][2].text, "20");
  EXPECT_EQ(more.rows[0][0].text, "dense");
  EXPECT_EQ(more.rows[0][2].text, "-");
  EXPECT_EQ(more.rows[0][4].text, "-");  // it loses nothing, so no query counts
  const std::string text = summary_text(result);
  const std::size_t rest = text.find("These store more than their budget, or have none:");
  ASSERT_NE(rest, std::string::npos);
  EXPECT_GT(text.find("dense"), rest);
  EXPECT_LT(text.find("window"), rest);
}

// The two means of a cell: over all queries, and over those after its first loss.
TEST(SummaryTable, LeadsWithTheMeanAfterTheFirstLoss) {
  ReplayResult result =
      fake_replay({.tokens = 128, .specs = {"window"}, .budgets = {32}, .seeds = {1}});
  for (HeadResult& head : result.cells[0].heads) head.metrics.retained_mass = 0.9;
  const Table table = summary_table(result);
  // 33 of 128 queries see everything: the others lose 0.1 * 128 / 95.
  EXPECT_NEAR(std::stod(table.rows[0][4].exact), 1 - 0.1 * 128 / 95, 1e-12);
  EXPECT_EQ(table.rows[0][4].text, "0.8653");
  EXPECT_EQ(table.rows[0][9].text, "0.9000");
  EXPECT_EQ(table.columns[4].name, "retained_mass_after");
}

// At positions of the stream KL is -ln(retained mass), which the table has already.
TEST(SummaryTable, ShowsKlForPositionsThatAreRanksOnly) {
  const auto kl = [](const std::vector<std::string>& specs) {
    const Table table =
        summary_table(fake_replay({.tokens = 128, .specs = specs, .budgets = {32}, .seeds = {1}}));
    EXPECT_EQ(table.columns[6].name, "kl_to_dense_after");
    std::string shown;
    for (const auto& row : table.rows) {
      shown += table.columns[6].exact_only ? "hidden " : row[6].text == "-" ? "- " : "number ";
      EXPECT_FALSE(row[6].exact.empty());
    }
    return shown;
  };
  EXPECT_EQ(kl({"window"}), "hidden ");
  EXPECT_EQ(kl({"window;positions=in-cache"}), "number ");
  const std::string both = kl({"window", "h2o;positions=in-cache"});
  EXPECT_TRUE(both == "- number " || both == "number - ") << both;
}

TEST(Summary, OfEqualUnitsAndSeedsIsExactlyTheirSize) {
  ReplayResult result = fake_replay({.tokens = 64, .specs = {"window"}, .budgets = {32}});
  CellResult cell = result.cells[0];
  for (UnitResult& unit : cell.units) {
    unit.visible_mean = 192.75;
    unit.kept_at_end = 64;
  }
  result.cells.clear();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cell.cell.seed = seed;
    result.cells.push_back(cell);
  }
  ASSERT_EQ(cell.units.size(), 24U);
  EXPECT_EQ(sizes_of(cell).kept_at_end, 64.0);
  EXPECT_EQ(summarise(result)[0].visible_mean, 192.75);
}

TEST(SummaryText, SaysOfWhichQueriesTheMeansAre) {
  const std::string text = summary_text(fake_replay(long_fake()));
  EXPECT_NE(text.find("from the first one on that cannot see every token"), std::string::npos);
  EXPECT_EQ(text.find("\xC2\xB1"), std::string::npos);  // no interval over the heads of a model
}

TEST(Escape, LeavesNothingThatHtmlOrGnuplotWouldRead) {
  EXPECT_EQ(html_escaped("<a href='x'>&\"\x01\xff"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(gnuplot_quoted("it's\n`x`"), "'it''s?`x`'");
  EXPECT_EQ(shortened("r\xC3\xA9servoir", 4), "r\xC3\xA9s\xE2\x80\xA6");
}

TEST(InlineSvg, KeepsTheIdsOfTwoDrawingsApart) {
  const std::string svg =
      "<?xml version=\"1.0\"?>\n<svg width=\"9\"><g id=\"p\"/><use href='#p'/>"
      "<path fill='url(#p)'/></svg>";
  EXPECT_EQ(inline_svg(svg, "a-", "say \"x\""),
            "<svg role=\"img\" aria-label=\"say &quot;x&quot;\" width=\"9\"><g id=\"a-p\"/>"
            "<use href='#a-p'/><path fill='url(#a-p)'/></svg>\n");
}

}  // namespace
}  // namespace kv::reports
