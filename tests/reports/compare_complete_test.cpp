// What specs are compared with by themselves: the best of their budget, or the complete cache.
#include "kvcheck/reports/compare/compare_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kv::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Eight texts or items, on which the specs have values that fall by a tenth from one to the next.
MeasuredTexts measured_of(const std::vector<std::string>& specs) {
  MeasuredTexts all;
  for (std::size_t text = 0; text < 8; ++text) {
    all.texts.push_back(std::to_string(text));
    all.names.push_back("text " + std::to_string(text));
  }
  for (const std::string& word : specs) {
    const Spec spec = parse_spec(word).value();
    MeasuredSpec& own = all.specs.emplace_back(MeasuredSpec{spec, spec.canonical()});
    for (std::size_t text = 0; text < 8; ++text) {
      const auto place = static_cast<double>(all.specs.size());
      own.values.push_back(1 - 0.1 * place + 0.001 * static_cast<double>(text) * place);
    }
  }
  return all;
}

Comparison compared(const std::string& measure, const std::vector<std::string>& specs) {
  return compare_specs(measured_of(specs), *measure_named(measure), {});
}

// "h2o 64 < dense", or "dense - alone".
std::vector<std::string> pairs_of(const Comparison& comparison) {
  std::vector<std::string> pairs;
  for (const ComparedSpec& row : comparison.rows) {
    pairs.push_back(row.name + " " + row.budget +
                    (row.other.empty() ? " alone" : " with " + row.other));
  }
  return pairs;
}

TEST(CompareComplete, AnswersAreThoseOfDenseOrNot) {
  MeasuredTexts all = measured_of({"dense", "h2o:budget=64", "tova:budget=64", "window:budget=32"});
  all.specs[0].stores_more =
      true;  // and comes first all the same, as what others are compared with
  const Comparison answers = compare_specs(all, *measure_named("exact"), {});
  EXPECT_THAT(pairs_of(answers), ElementsAre("dense - alone", "window 32 with dense",
                                             "h2o 64 with dense", "tova 64 with dense"));
  EXPECT_EQ(answers.tests, 3U);  // dense was not selected by the answers
  EXPECT_THAT(words_of(answers),
              HasSubstr("Each is compared with dense, which keeps every token."));
  EXPECT_THAT(words_of(answers), Not(HasSubstr("best")));
}

// Dense is the best of the specs without a budget, too, and not selected for that.
TEST(CompareComplete, DenseIsNotSelectedByTheAnswers) {
  const Comparison answers = compared("exact", {"dense", "@quest", "h2o:budget=64"});
  EXPECT_EQ(answers.tests, 2U);
  EXPECT_THAT(words_of(answers),
              HasSubstr("Each is compared with dense, which keeps every token."));
}

TEST(CompareComplete, ASpecAloneAtItsBudgetIsComparedWithDense) {
  const Comparison losses =
      compared("recall", {"dense", "h2o:budget=64", "tova:budget=64", "window:budget=32"});
  EXPECT_THAT(pairs_of(losses), ElementsAre("dense - alone", "window 32 with dense", "h2o 64 alone",
                                            "tova 64 with h2o"));
  EXPECT_EQ(losses.tests, 2U);
  EXPECT_THAT(words_of(losses),
              HasSubstr("Each is compared with the best of its budget; one that has its budget to "
                        "itself, with dense, which keeps every token."));
}

TEST(CompareComplete, WithoutDenseASpecAloneIsLeftOut) {
  const Comparison answers =
      compared("exact", {"h2o:budget=64", "tova:budget=64", "window:budget=32"});
  EXPECT_THAT(pairs_of(answers), ElementsAre("h2o 64 alone", "tova 64 with h2o"));
  EXPECT_THAT(words_of(answers), HasSubstr("1 spec is not compared"));
  EXPECT_THAT(words_of(answers), HasSubstr("with the best of its budget. The best was selected"));
}

TEST(CompareComplete, OfSeveralDenseItIsTheOneThatNamesNoStorage) {
  const std::vector<std::string> specs = {"dense;storage=int4", "dense;storage=int8",
                                          "h2o:budget=64", "window:budget=32"};
  EXPECT_FALSE(complete_cache(measured_of(specs)));
  EXPECT_EQ(complete_cache(measured_of({"dense;storage=int8", "h2o:budget=64", "dense"})), 2U);
  EXPECT_EQ(complete_cache(measured_of({"h2o:budget=64", "dense"})), 1U);
  EXPECT_FALSE(complete_cache(measured_of({"@quest", "h2o:budget=64"})));  // reads some pages only
  EXPECT_THAT(words_of(compared("exact", specs)), HasSubstr("2 specs are not compared"));
}

TEST(CompareComplete, ThoseThatStoreMoreAreRankedApartByName) {
  MeasuredTexts all = measured_of({"h2o:budget=64", "tova:budget=64", "window:budget=64",
                                   "streaming:budget=64", "fifo:budget=32", "lru:budget=32"});
  for (const std::size_t i : {2U, 3U, 4U, 5U}) all.specs[i].stores_more = true;
  const Comparison comparison = compare_specs(all, *measure_named("exact"), {});
  EXPECT_THAT(words_of(comparison),
              HasSubstr("Caches that store more than their budget are ranked apart: window, "
                        "streaming."));
  EXPECT_THAT(to_json_lines(comparison), HasSubstr("\"stores_more\":\"yes\""));
}

TEST(CompareComplete, DenseAloneIsNothingToCompare) {
  EXPECT_TRUE(compared("exact", {"dense"}).rows.empty());
}

}  // namespace
}  // namespace kv::reports
