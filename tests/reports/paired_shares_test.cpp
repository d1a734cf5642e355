#include "kvcheck/reports/numbers/paired_shares.h"

#include <array>
#include <sstream>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv::reports {
namespace {

// Items that both specs answer rightly, the first alone, the second alone, and neither.
using Answers = std::array<std::size_t, 4>;

struct Scores {
  std::vector<double> a;
  std::vector<double> b;
};

Scores scores_of(const Answers& answers) {
  Scores scores;
  for (std::size_t kind = 0; kind < answers.size(); ++kind) {
    scores.a.insert(scores.a.end(), answers.at(kind), kind < 2 ? 1.0 : 0.0);
    scores.b.insert(scores.b.end(), answers.at(kind), kind % 2 == 0 ? 1.0 : 0.0);
  }
  return scores;
}

const std::vector<Answers> tables = {{6, 0, 0, 0},   {0, 0, 0, 7},     {200, 0, 0, 0},
                                     {197, 0, 3, 0}, {150, 20, 5, 25}, {10, 90, 3, 97},
                                     {1, 6, 7, 2},   {3, 0, 0, 9}};

TEST(PairedShares, AgreeWithTheirDefinitionsInPython) {
  constexpr double margin = 0.05;
  std::string lines;
  for (const auto& [both, first, second, neither] : tables) {
    lines += std::to_string(both) + " " + std::to_string(first) + " " + std::to_string(second) +
             " " + std::to_string(neither) + " 0.05\n";
  }
  const test::Ran ran = test::run_shell("printf '%s' '" + lines +
                                        "' | python3 -B " KVCHECK_SOURCE_DIR
                                        "/tests/reports/paired_shares_reference.py");
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::istringstream expected(ran.out);
  for (const Answers& answers : tables) {
    const Scores scores = scores_of(answers);
    const Interval ratio = share_ratio(scores.a, scores.b);
    const PairedTest found = paired_share_test(scores.a, scores.b, margin);
    for (const double value : {found.difference.mean, found.difference.low, found.difference.high,
                               ratio.mean, ratio.low, ratio.high}) {
      std::string text;
      expected >> text;
      if (text == "nan") continue;
      EXPECT_NEAR(std::stod(text), value, 1e-9) << answers[0];
    }
    double outside = 0;
    expected >> outside;
    EXPECT_NEAR(found.outside_margin_p, outside, 1e-9) << answers[0];
  }
}

// No item shows a difference, but other items may.
TEST(PairedShares, AgreementOfAllItemsHasAnInterval) {
  const Scores few = scores_of({6, 0, 0, 0});
  EXPECT_NEAR(share_difference(few.a, few.b).high, 1 - 6 / (6 + 1.96 * 1.96), 1e-4);
  const Scores many = scores_of({200, 0, 0, 0});
  EXPECT_GT(paired_share_test(many.a, many.b, 0.01).outside_margin_p, 0.05);
  EXPECT_LT(paired_share_test(many.a, many.b, 0.02).outside_margin_p, 0.05);
  EXPECT_TRUE(std::isnan(paired_share_test(many.a, many.b, 0.01).detectable));
  EXPECT_TRUE(std::isnan(share_difference({}, {}).mean));
  EXPECT_TRUE(std::isnan(share_ratio(scores_of({0, 3, 0, 3}).a, scores_of({0, 3, 0, 3}).b).mean));
}

TEST(PairedShares, AreThoseOfTheReverseWithTheOtherSign) {
  for (const Answers& answers : tables) {
    const Scores scores = scores_of(answers);
    const Interval there = share_difference(scores.a, scores.b);
    const Interval back = share_difference(scores.b, scores.a);
    EXPECT_NEAR(there.low, -back.high, 1e-12);
    EXPECT_NEAR(there.high, -back.low, 1e-12);
  }
}

// Intervals of items that differ rarely contain the true difference about as often as they say.
TEST(PairedShares, ContainTheTrueDifference) {
  constexpr std::uint32_t trials = 2000;
  for (const auto& [n, right, rare] : {std::tuple{40U, 900U, 30U}, std::tuple{200U, 950U, 15U}}) {
    std::uint32_t contained = 0;
    for (std::uint32_t trial = 0; trial < trials; ++trial) {
      const Rng rng(7, trial);
      Scores scores;
      for (std::uint32_t item = 0; item < n; ++item) {
        // The second is wrong where the first is, and in `rare` of 1,000 items more.
        const std::size_t draw = rng.below(1000, item);
        scores.a.push_back(draw < right ? 1 : 0);
        scores.b.push_back(draw < right - rare ? 1 : 0);
      }
      const Interval interval = share_difference(scores.a, scores.b);
      const double truth = static_cast<double>(rare) / 1000;
      contained += interval.low <= truth && truth <= interval.high ? 1U : 0U;
    }
    EXPECT_GE(contained, trials * 94 / 100) << n;
  }
}

}  // namespace
}  // namespace kv::reports
