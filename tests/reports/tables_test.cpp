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

TEST(SummaryTable, IsSortedByRetainedMassAndGivesDenseNoBudget) {
  const Table table = summary_table(fake_replay(small_fake()));
  ASSERT_EQ(table.rows.size(), 5U);  // dense, and two policies at two budgets, seeds together
  EXPECT_EQ(table.rows[0][0].text, "dense");
  EXPECT_EQ(table.rows[0][2].text, "-");
  std::vector<double> masses;
  for (const auto& row : table.rows) masses.push_back(std::stod(row[4].exact));
  EXPECT_TRUE(std::ranges::is_sorted(masses, std::ranges::greater()));
  EXPECT_EQ(table.rows[0][4].text, "1.0000 \xC2\xB1 0.0000");
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

TEST(SummaryText, SaysWhatTheIntervalIsOver) {
  EXPECT_NE(
      summary_text(fake_replay(small_fake())).find("95 % t-interval of the mean over query heads"),
      std::string::npos);
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
