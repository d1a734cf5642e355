#include "kvcheck/reports/page/findings.h"

#include <map>

#include "kvcheck/base/text/text.h"
#include "kvcheck/reports/numbers/sweep.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Specs at budget 64 whose retained masses after the first loss are set.
ReplayResult with_masses(const std::map<std::string, double>& masses) {
  testing::FakeReplay fake = testing::small_fake();
  fake.specs.clear();
  for (const auto& [spec, mass] : masses) fake.specs.push_back(spec);
  fake.tokens = 128;
  fake.budgets = {64};
  fake.seeds = {1};
  ReplayResult result = testing::fake_replay(fake);
  for (CellResult& cell : result.cells) {
    for (UnitResult& unit : cell.units) unit.stored_peak = 65;
    std::size_t i = 0;
    for (HeadResult& head : cell.heads) {
      const double after =
          masses.at(std::string(cell.cell.spec.policy->name)) + (i++ % 2 == 0 ? 0.01 : -0.01);
      head.metrics.retained_mass = 1 - (1 - after) * (128.0 - 65.0) / 128.0;
    }
  }
  return result;
}

TEST(Findings, NameTheBestTheNextAndTheLeast) {
  const std::vector<std::string> findings =
      findings_of(with_masses({{"window", 0.5}, {"h2o", 0.9}, {"tova", 0.7}}));
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(
      findings[0],
      "With a budget of 64 tokens, h2o kept most of the attention once it evicted: 90.0\u00a0% of "
      "its mass.");
  EXPECT_EQ(findings[1],
            "The next of 3 is tova with 70.0\u00a0%; one text cannot say whether the two differ on "
            "others.");
  EXPECT_EQ(findings[2], "The least was kept by window: 50.0\u00a0%.");
}

TEST(Findings, HaveTheDigitsThatTellTheBestFromTheNext) {
  const auto findings =
      findings_of(with_masses({{"window", 0.5}, {"h2o", 0.9001}, {"tova", 0.9004}}));
  EXPECT_THAT(findings.at(0), HasSubstr(": 90.04\u00a0% of"));
  EXPECT_THAT(findings.at(1), HasSubstr("h2o with 90.01\u00a0%;"));
  EXPECT_THAT(findings.at(2), HasSubstr("window: 50.0\u00a0%."));
  const auto same = findings_of(with_masses({{"h2o", 0.9}, {"tova", 0.9}}));
  EXPECT_THAT(same.at(0), HasSubstr(": 90.0\u00a0% of"));
}

TEST(Findings, DoNotRankCachesThatStoreMore) {
  ReplayResult result = with_masses({{"window", 0.5}, {"h2o", 0.9}, {"tova", 0.7}});
  for (CellResult& cell : result.cells) {
    if (cell.cell.spec.policy->name != "h2o") continue;
    for (UnitResult& unit : cell.units) unit.stored_peak = 128;
  }
  const std::vector<std::string> findings = findings_of(result);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_THAT(findings[0], HasSubstr("tova kept most"));
  EXPECT_EQ(findings[2], "Not ranked, because a unit stores more rows than 64 tokens: h2o (128).");
}

TEST(Findings, SayNothingOfASinglePolicy) {
  EXPECT_THAT(findings_of(with_masses({{"h2o", 0.9}})), IsEmpty());
  EXPECT_EQ(findings_html({}), "");
  EXPECT_EQ(findings_html({"a <b>.", "c."}), "<p class=\"findings\">a &lt;b&gt;. c.</p>\n");
}

TEST(Findings, CompareAnEvaluationWithTheModelThatEvictsNothing) {
  const std::vector<std::string> findings = findings_of(testing::fake_evaluation(512, true));
  // Perplexity e^1 dense, then e^1.25 and e^1.5 at budget 32, the lower of the two middle ones.
  ASSERT_GE(findings.size(), 2U);
  EXPECT_THAT(findings[0], HasSubstr("the lowest perplexity is that of window (3.490), the highest "
                                     "that of h2o:sinks=4 (4.482); with nothing evicted it is "
                                     "2.718."));
  EXPECT_THAT(findings[1], HasSubstr("longer than the 256 tokens"));
}

// fake_evaluation() with other specs; perplexity is e^1 of the first, e^1.25 of the second and so
// on.
ClosedLoopResult with_specs(const std::vector<std::string>& specs) {
  ClosedLoopResult result = testing::fake_evaluation(64, true);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    result.cells[i].cell.spec = testing::taken(parse_spec(specs[i]));
  }
  result.cells.resize(specs.size());
  return result;
}

TEST(Findings, CompareWithNothingEvictedAndStoredAsTheRunSays) {
  for (const std::vector<std::string>& specs :
       {std::vector<std::string>{"dense", "dense;storage=int4", "@kivi"},
        {"dense;storage=int4", "dense", "@kivi"}}) {
    std::vector<std::string> all = {"window:budget=32", "h2o:budget=32"};
    all.insert(all.end(), specs.begin(), specs.end());
    const bool first = specs.front() == "dense";
    EXPECT_THAT(findings_of(with_specs(all)).at(0),
                ::testing::EndsWith(first ? "; with nothing evicted it is 4.482."
                                          : "; with nothing evicted it is 5.755."));
  }
}

TEST(Findings, RankNoCacheThatStoresMoreBesideThoseThatDoNot) {
  const auto findings = findings_of(
      with_specs({"window:budget=32;timing=lazy:8", "window:budget=32", "h2o:budget=32"}));
  EXPECT_THAT(findings,
              ElementsAre(::testing::EndsWith("the lowest perplexity is that of window "
                                              "(3.490), the highest that of h2o (4.482)."),
                          "Not ranked, because the cache stores more than the budget: "
                          "window lazy:8.",
                          HasSubstr("questions")));
  // Where most store more, these are ranked.
  const auto prompts = findings_of(with_specs(
      {"window:budget=32;compress=prompt", "h2o:budget=32;compress=prompt", "h2o:budget=32"}));
  EXPECT_THAT(
      prompts,
      ElementsAre(::testing::EndsWith("is that of window compress=prompt (2.718), the highest that "
                                      "of h2o compress=prompt (3.490)."),
                  "Not ranked, because the cache stores no more than the budget: h2o.",
                  HasSubstr("questions")));
}

TEST(Findings, NameTheStorageOfNothingEvictedWhereItIsNotThatOfTheRun) {
  const std::vector<std::string> findings =
      findings_of(with_specs({"window:budget=32", "h2o:budget=32", "dense;storage=int4", "@kivi"}));
  EXPECT_THAT(findings.at(0),
              ::testing::EndsWith("; with nothing evicted and keys and values stored as int4 it is "
                                  "4.482."));
  EXPECT_THAT(
      findings_of(with_specs({"window:budget=32", "h2o:budget=32", "dense;storage=f16"}))[0],
      ::testing::EndsWith("; with nothing evicted it is 4.482."));
}

TEST(Findings, CompareTheFormsInWhichKeysAndValuesAreStored) {
  ClosedLoopResult result = with_specs({"dense;storage=int4", "dense", "@kivi"});
  result.cells[0].kv_bytes = 100;
  result.cells[1].kv_bytes = 400;
  result.cells[2].kv_bytes = 50;
  EXPECT_THAT(
      findings_of(result),
      ElementsAre("With nothing evicted, perplexity is 3.490 with keys and values stored as "
                  "f16, 2.718 as int4 (25.0\u00a0% of the bytes), 4.482 as kivi2 "
                  "(12.5\u00a0%)."));
  EXPECT_THAT(findings_of(with_specs({"dense"})), IsEmpty());
}

TEST(Findings, CountTheItemsThatWereAnswered) {
  TaskResult result = testing::fake_tasks();
  EXPECT_THAT(findings_of(result),
              ElementsAre("With a budget of 32 tokens, of 10 items the most were answered exactly "
                          "with window (5); with nothing evicted it is 10."));
  for (const std::string spec : {"h2o:budget=32", "tova:budget=32"}) {
    result.cells.push_back(result.cells[spec == "h2o:budget=32" ? 1 : 0]);
    result.cells.back().cell.spec = testing::taken(parse_spec(spec));
  }
  EXPECT_THAT(
      findings_of(result),
      ElementsAre("With a budget of 32 tokens, of 10 items the most were answered exactly "
                  "with tova (10), the fewest with h2o and window (5); with nothing evicted "
                  "it is 10."));
  result.cells.back().cell.spec = testing::taken(parse_spec("tova:budget=32;timing=lazy:8"));
  EXPECT_THAT(findings_of(result),
              ElementsAre("With a budget of 32 tokens, of 10 items the most were answered exactly "
                          "with h2o and window (5); with nothing evicted it is 10.",
                          "Not ranked, because the cache stores more than the budget: tova "
                          "lazy:8."));
  result.cells = {result.cells.front()};
  EXPECT_THAT(findings_of(result), IsEmpty());
}

TEST(Findings, NameTheFastestAndTheSlowestAfterTheLongestPrompt) {
  TimingResult result = testing::fake_timing();
  result.cells[3].token_s = 5e-4;  // window at 32, after 1,024 tokens
  result.cells[5].kv_bytes = 2048;
  EXPECT_THAT(
      findings_of(result),
      ElementsAre("After a prompt of 1,024 tokens, a token took the least time with window "
                  "at 32 (0.50\u00a0ms, 3,072\u00a0KiB of keys and values) and the most with "
                  "dense (1.02\u00a0ms, 3,072\u00a0KiB of keys and values). Each was timed once, "
                  "which says nothing of other runs. Times are those of one machine and its "
                  "load."));
  const std::vector<TimedCell> once = result.cells;
  const auto again = [&](double factor) {
    for (TimedCell cell : once) {
      ++cell.repetition;
      cell.token_s *= factor;
      result.cells.push_back(cell);
    }
    return findings_of(result).front();
  };
  EXPECT_THAT(again(1.1), ::testing::Not(::testing::HasSubstr("may be chance")));
  result.cells = once;
  EXPECT_THAT(again(10), HasSubstr("The ranges of their runs overlap, so that this order may be"));
}

TEST(ReportPage, HasATitleForTimingsAloneAndTheirSentence) {
  const TimingResult timing = testing::fake_timing();
  ReportSections page;
  page.timings = {{.result = &timing, .folder = "timing-1", .figures = {}}};
  const std::string html = report_page(page);
  EXPECT_THAT(html, HasSubstr("<h1>How fast a model runs under eviction policies</h1>"));
  EXPECT_THAT(html, HasSubstr("a token took the least time"));
}

TEST(ReportPage, ShowsNoLineEndOfATableLineAsABrokenCharacter) {
  const TaskResult tasks = testing::fake_tasks();
  ReportSections page;
  page.tasks = {{.result = &tasks, .folder = "tasks-1"}};
  EXPECT_THAT(report_page(page), ::testing::Not(HasSubstr("\xEF\xBF\xBD")));
}

TEST(Lines, HighlightTheBestOfManyAndTheDenseOne) {
  testing::FakeReplay fake = testing::small_fake();
  fake.specs = {"dense"};
  for (int recent = 1; recent <= 9; ++recent) {
    fake.specs.push_back("h2o:recent=" + std::to_string(recent));
  }
  fake.tokens = 128;
  fake.budgets = {64};
  ReplayResult result = testing::fake_replay(fake);
  double mass_of_cell = 0.9;  // falls from cell to cell, also from the dense one's
  for (CellResult& cell : result.cells) {
    mass_of_cell -= 0.02;
    for (HeadResult& head : cell.heads) head.metrics.retained_mass = mass_of_cell;
  }
  const Sweep sweep = sweep_of(result);
  std::set<std::string_view> colours;
  for (const Line& line : sweep.lines) {
    if (!line.look.quiet) colours.insert(line.look.colour);
    EXPECT_FALSE(line.label == "dense" && line.look.quiet);
  }
  EXPECT_EQ(colours.size(), most_colours + 1);  // and black
  double worst_shown = 1;
  double best_quiet = 0;
  for (const Line& line : sweep.lines) {
    if (line.label == "dense") continue;  // it is shown whatever it keeps
    const double mass = sweep.at_budget(line)->after.retained_mass.mean;
    (line.look.quiet ? best_quiet : worst_shown) =
        line.look.quiet ? std::max(best_quiet, mass) : std::min(worst_shown, mass);
  }
  EXPECT_GE(worst_shown, best_quiet);
  const std::vector<Line> drawn = in_drawing_order(sweep.lines);
  EXPECT_TRUE(drawn.front().look.quiet);
  EXPECT_FALSE(drawn.back().look.quiet);
  EXPECT_FALSE(sweep_of(testing::fake_replay(testing::small_fake())).lines[0].look.quiet);
}

}  // namespace
}  // namespace kv::reports
