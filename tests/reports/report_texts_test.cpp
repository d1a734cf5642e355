#include "kvcheck/reports/page/findings.h"
#include "kvcheck/reports/page/report_page.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Evaluations of some texts, each in windows of some sizes.
std::vector<StoredRun> evaluations(std::size_t texts, const std::vector<std::size_t>& windows) {
  std::vector<StoredRun> runs(1);
  for (std::size_t text = 0; text < texts; ++text) {
    for (const std::size_t window : windows) {
      ClosedLoopResult result = testing::fake_evaluation(64, false);
      result.text = "text " + std::to_string(text) + ".txt";
      result.checksum += text;
      result.window = window;
      result.streams = window == 0 ? 1 : 5;
      runs[0].evaluations.push_back(result);
    }
  }
  return runs;
}

std::vector<std::string> titles_of(const TextsSection& section) {
  std::vector<std::string> titles;
  for (const TextsComparison& one : section.comparisons) titles.push_back(one.title());
  return titles;
}

TEST(ReportOverTexts, DoesNotTestOneTextInSeveralWindowsAsSeveral) {
  const TextsSection section = over_texts(evaluations(1, {0, 48, 64, 96, 128, 256}), "texts");
  EXPECT_THAT(section.comparisons, IsEmpty());
  EXPECT_EQ(texts_section(section), "");
}

TEST(ReportOverTexts, ComparesTextsInWindowsOfEverySizeAlone) {
  const TextsSection section = over_texts(evaluations(6, {0, 256}), "texts");
  EXPECT_THAT(titles_of(section),
              ElementsAre("loss per token, nats, not cut, 6 texts",
                          "loss per token, nats, in windows of 256 tokens, 6 texts",
                          "loss per token once evicting, nats, not cut, 6 texts",
                          "loss per token once evicting, nats, in windows of 256 tokens, 6 texts"));
  ASSERT_EQ(section.comparisons.size(), 4U);
  EXPECT_EQ(section.comparisons[0].file(), "loss-windows-0.csv");
  const std::string page = texts_section(section);
  EXPECT_THAT(page, HasSubstr("<a href=\"texts/loss-windows-256.csv\">"));
}

// The heads of a table of the page, without what sorts it.
std::vector<std::string> heads_of(const std::string& page) {
  std::vector<std::string> heads;
  for (std::size_t at = 0;
       (at = page.find("<th ", at)) != std::string::npos && heads.size() < 20;) {
    const std::size_t begin = page.find('>', at) + 1;
    at = page.find("</th>", begin);
    heads.push_back(page.substr(begin, at - begin));
    if (page.find("</tr>", at) < page.find("<th ", at)) break;
  }
  return heads;
}

TEST(ReportOverTexts, ShowsTheFindingBesideTheDifferenceAndNoEmptyColumn) {
  EXPECT_THAT(
      heads_of(texts_section(over_texts(evaluations(2, {256}), "texts"))),
      ElementsAre("policy", "budget", "texts", "rank", "mean", "against", "difference", "finding"));
  const auto heads = heads_of(texts_section(over_texts(evaluations(6, {256}), "texts")));
  EXPECT_THAT(heads, ::testing::Contains("p"));
}

TEST(ReportOverTexts, NamesNoWindowIfThereIsOneSize) {
  const TextsSection section = over_texts(evaluations(2, {256}), "texts");
  EXPECT_THAT(titles_of(section), ElementsAre("loss per token, nats, 2 texts",
                                              "loss per token once evicting, nats, 2 texts"));
  ASSERT_EQ(section.comparisons.size(), 2U);
  EXPECT_EQ(section.comparisons[0].file(), "loss.csv");
}

// Two specs of one budget, the first of them the best.
TextsSection two_specs(Finding finding, bool same_queries = true) {
  Comparison comparison{.measure = *measure_named("retained_mass"), .options = {}, .texts = 8};
  comparison.rows = {{.name = "tova", .canonical = "tova", .budget = "32", .other = ""},
                     {.name = "h2o", .canonical = "h2o", .budget = "32", .other = "tova"}};
  comparison.rows[0].mean = 0.9;
  comparison.rows[1].finding = finding;
  for (ComparedSpec& row : comparison.rows) row.same_queries = same_queries;
  TextsSection section{.folder = "texts"};
  section.comparisons.push_back({.comparison = comparison});
  return section;
}

TEST(ReportOverTexts, SaysWhatTheOnlyOtherSpecIs) {
  const std::string best =
      "By retained mass once evicting, the best at a budget of 32 tokens over "
      "8 texts is tova (0.9000). The other, h2o, ";
  EXPECT_THAT(findings_of(two_specs(Finding::lower)), ElementsAre(best + "is shown to be worse."));
  EXPECT_THAT(findings_of(two_specs(Finding::equal)),
              ElementsAre(best + "is shown to be equal within 0.01."));
  EXPECT_THAT(findings_of(two_specs(Finding::not_shown)),
              ElementsAre(best + "is not shown to differ."));
}

// Answers of three caches at one budget and of one at another, compared with the complete cache.
TEST(ReportOverTexts, SaysWhatCompressionCosts) {
  TextsSection section{.folder = "texts"};
  Comparison comparison{.measure = *measure_named("exact"), .options = {}, .texts = 60};
  comparison.complete = "dense";
  comparison.rows = {{.name = "dense", .canonical = "dense", .budget = "-", .other = ""},
                     {.name = "h2o", .canonical = "h2o", .budget = "32", .other = "dense"},
                     {.name = "window", .canonical = "window", .budget = "32", .other = "dense"},
                     {.name = "h2o", .canonical = "h2o", .budget = "64", .other = "dense"}};
  comparison.rows[0].mean = 0.85;
  comparison.rows[1].finding = Finding::higher;
  comparison.rows[2].finding = Finding::lower;
  comparison.rows[3].finding = Finding::not_shown;
  section.comparisons.push_back({.comparison = comparison});
  EXPECT_THAT(
      findings_of(section),
      ElementsAre("By share of exact answers over 60 items, dense, which keeps every token, "
                  "has 0.8500. Of the 3 others, 1 is shown to be worse; 1 is shown to be "
                  "better (h2o at 32); 1 is not shown to differ (h2o at 64)."));
}

TEST(ReportOverTexts, NamesNoBestOfMeansThatBeginElsewhere) {
  EXPECT_THAT(findings_of(two_specs(Finding::lower, false)),
              ElementsAre("By retained mass once evicting, no best is named at a budget of 32 "
                          "tokens over 8 texts, because the means of these specs begin at "
                          "different queries."));
}

}  // namespace
}  // namespace kv::reports
