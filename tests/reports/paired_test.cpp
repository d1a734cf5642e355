#include "kvcheck/reports/numbers/paired.h"

#include <cmath>
#include <vector>

#include "kvcheck/base/random/rng.h"

namespace kv::reports {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

std::vector<double> normal_values(std::size_t count, double mean, std::uint32_t stream) {
  const Rng rng(5, stream);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(mean + rng.normal(static_cast<Position>(i)));
  }
  return values;
}

TEST(PairedTest, FewDifferencesHaveAMeanAndNothingElse) {
  const PairedTest test = paired_test(std::vector<double>{1, 2, 3, 4, 5}, 0.1);
  EXPECT_EQ(test.pairs, 5U);
  EXPECT_DOUBLE_EQ(test.difference.mean, 3);
  EXPECT_TRUE(std::isnan(test.difference.low));
  EXPECT_TRUE(std::isnan(test.p));
  EXPECT_TRUE(std::isnan(test.detectable));
}

TEST(PairedTest, EqualDifferencesHaveNoWidth) {
  const PairedTest zero = paired_test(std::vector<double>(6, 0.0), 0.1);
  EXPECT_TRUE(zero.same);
  EXPECT_EQ(zero.p, 1);
  EXPECT_EQ(zero.outside_margin_p, 0);
  const PairedTest half = paired_test(std::vector<double>(6, 0.5), 0.1);
  EXPECT_FALSE(half.same);
  EXPECT_EQ(half.difference.low, 0.5);
  EXPECT_EQ(half.difference.high, 0.5);
  EXPECT_DOUBLE_EQ(half.p, 2.0 / 64);
  EXPECT_EQ(half.outside_margin_p, 1);
}

// By hand: mean 3.5, s = sqrt(3.5), s / sqrt(6) = 0.763763; t(0.975, 5) = 2.570582, t(0.8, 5) =
// 0.919544. One-sided against a margin of 4: t = 0.654654, p = 0.270811.
TEST(PairedTest, AgreesWithATableOfT) {
  const PairedTest test = paired_test(std::vector<double>{1, 2, 3, 4, 5, 6}, 4);
  EXPECT_NEAR(test.detectable, (2.570582 + 0.919544) * 0.763763, 1e-5);
  EXPECT_NEAR(test.outside_margin_p, 0.270811, 1e-5);
}

// t(1 - 0.05 / 40, 5) = 5.6041, so among 20 tests the difference has to be so much larger.
TEST(PairedTest, ManyTestsDetectLargerDifferences) {
  const PairedTest test = paired_test(std::vector<double>{1, 2, 3, 4, 5, 6}, 4);
  EXPECT_DOUBLE_EQ(detectable_among(test, 1, 0.05), test.detectable);
  EXPECT_NEAR(detectable_among(test, 20, 0.05), (5.6041 + 0.919544) * 0.763763, 1e-3);
}

// The skew of the sample moves both ends of the interval away from the mean's own side.
TEST(BootstrapInterval, FollowsTheSkewOfTheSample) {
  const std::vector<double> skewed = {0, 0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 5};
  const Interval interval = bootstrap_interval(skewed);
  EXPECT_LT(interval.low, interval.mean);
  EXPECT_GT(interval.high - interval.mean, 1.5 * (interval.mean - interval.low));
  std::vector<double> mirrored;
  for (const double value : skewed) mirrored.push_back(-value);
  const Interval other = bootstrap_interval(mirrored);
  EXPECT_NEAR(other.low, -interval.high, 0.05);
  EXPECT_NEAR(other.high, -interval.low, 0.05);
}

// 300 samples of 20 with mean 0: 93 % of intervals contain it, so 279 of 300 with deviation 4.4.
TEST(BootstrapInterval, ContainsTheMeanAboutAsOftenAsItSays) {
  int contained = 0;
  for (std::uint32_t stream = 1; stream <= 300; ++stream) {
    const Interval interval = bootstrap_interval(normal_values(20, 0, stream));
    contained += interval.low <= 0 && interval.high >= 0 ? 1 : 0;
  }
  EXPECT_GT(contained, 260);
  EXPECT_LT(contained, 296);
}

TEST(LargestFlips, IsThePairedTestForOneContrast) {
  const std::vector<double> values = normal_values(9, 0.4, 1);
  const std::vector<double> zeros(9);
  const std::vector<Contrast> one = {{.of = 0}};
  EXPECT_THAT(largest_flips({values}, one), ElementsAre(DoubleEq(paired_flips(values, zeros))));
  const std::vector<Contrast> two = {{.of = 0, .against = 1}};
  EXPECT_THAT(largest_flips({values, zeros}, two),
              ElementsAre(DoubleEq(paired_flips(values, zeros))));
}

// By hand, with two texts and so the patterns ++ and +-: the statistics of (1, 1) are sqrt 2 and 0,
// those of (2, -2) 0 and sqrt 2, those of (3, 0) 1 and 1. The largest is sqrt 2 in both patterns.
TEST(LargestFlips, CountsThePatternsOfTheLargest) {
  const std::vector<std::vector<double>> columns = {{1, 1}, {2, -2}, {3, 0}, {0, 0}};
  const std::vector<Contrast> all = {{.of = 0}, {.of = 1}, {.of = 2}, {.of = 3}};
  EXPECT_THAT(largest_flips(columns, all), Each(DoubleEq(1)));
  EXPECT_THAT(largest_flips(columns, std::vector<Contrast>{{.of = 0}, {.of = 3}}),
              ElementsAre(DoubleEq(0.5), DoubleEq(1)));
}

// Twenty columns without a difference: one is rejected at 5 % in 5 % of 400 families, not in 64 %.
TEST(LargestFlips, RejectsSeldomInAWholeFamily) {
  int rejected = 0;
  std::vector<Contrast> all;
  for (std::size_t i = 0; i < 20; ++i) all.push_back({.of = i});
  for (std::uint32_t family = 0; family < 400; ++family) {
    std::vector<std::vector<double>> columns;
    for (std::uint32_t i = 0; i < 20; ++i) {
      columns.push_back(normal_values(8, 0, 1000 + 20 * family + i));
    }
    rejected += std::ranges::min(largest_flips(columns, all)) <= 0.05 ? 1 : 0;
  }
  EXPECT_LT(rejected, 40);
  EXPECT_GT(rejected, 5);
}

// Most are 0 and few are large, as differences of losses of answers are.
std::vector<double> heavy_values(std::size_t count, double mean, std::uint32_t stream) {
  std::vector<double> values = normal_values(count, 0, stream);
  for (double& value : values) value = mean + value * value * value;
  return values;
}

// From the definition, step by step: of each contrast the p-value that each pattern would have,
// and then the least of those with no smaller p-values.
std::vector<double> least_by_definition(const std::vector<std::vector<double>>& columns) {
  const std::size_t texts = columns.front().size();
  const std::size_t patterns = DrawnSigns::draws + 1;
  DrawnSigns drawn(texts);
  std::vector<std::vector<double>> p;
  for (const auto& column : columns) {
    std::vector<double> sums(patterns, 0);
    for (std::size_t text = 0; text < texts; ++text) {
      sums[0] += column[text];
      const auto signs = drawn.of_text(text);
      for (std::size_t i = 1; i < patterns; ++i) sums[i] += signs[i - 1] * column[text];
    }
    for (double& sum : sums) sum = std::abs(sum);
    std::vector<double> ordered = sums;
    std::ranges::sort(ordered);
    auto& own = p.emplace_back();
    for (const double sum : sums) {
      const auto at_least = ordered.end() - std::ranges::lower_bound(ordered, sum * (1 - 1e-7));
      own.push_back(static_cast<double>(at_least) / static_cast<double>(patterns));
    }
  }
  std::vector<double> corrected;
  for (std::size_t c = 0; c < p.size(); ++c) {
    double most = 0;
    for (const auto& other : p) {
      if (other[0] > p[c][0]) continue;
      std::size_t below = 0;
      for (std::size_t i = 0; i < patterns; ++i) {
        double least = 1;
        for (const auto& left : p) {
          if (left[0] >= other[0]) least = std::min(least, left[i]);
        }
        if (least <= other[0]) ++below;
      }
      most = std::max(most, static_cast<double>(below) / static_cast<double>(patterns));
    }
    corrected.push_back(most);
  }
  return corrected;
}

std::vector<Contrast> each_with_zero(std::size_t columns) {
  std::vector<Contrast> all;
  for (std::size_t i = 0; i < columns; ++i) all.push_back({.of = i});
  return all;
}

TEST(LeastFlips, AreTheLeastPValuesStepByStep) {
  std::vector<std::vector<double>> columns;
  for (std::uint32_t i = 0; i < 6; ++i) {
    columns.push_back(i % 2 == 0 ? normal_values(20, 0.2 * i, i) : heavy_values(20, 0.2 * i, i));
  }
  columns.emplace_back(20);
  const auto expected = least_by_definition(columns);
  const auto found = least_flips(columns, each_with_zero(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
  }
  EXPECT_EQ(found.back(), 1);
  EXPECT_LT(found[4], 0.06);
}

TEST(LeastFlips, AreNeverAboveHolmsCorrection) {
  for (std::uint32_t family = 0; family < 10; ++family) {
    std::vector<std::vector<double>> columns;
    std::vector<double> alone;
    const std::vector<double> zeros(30);
    for (std::uint32_t i = 0; i < 5; ++i) {
      columns.push_back(heavy_values(30, 0.3 * i, 10 * family + i));
      alone.push_back(paired_flips(columns.back(), zeros));
    }
    const auto holms = holm(alone);
    const auto found = least_flips(columns, each_with_zero(5));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_LE(found[i], holms[i] + 2e-4);
      EXPECT_GE(found[i], alone[i] - 2e-4);
    }
  }
}

// A difference with heavy tails beside three columns with light ones, whose statistics are larger.
TEST(LeastFlips, FindContrastsWithHeavyTailsBesideLightOnes) {
  double by_largest = 0;
  double by_least = 0;
  for (std::uint32_t family = 0; family < 20; ++family) {
    std::vector<std::vector<double>> columns = {heavy_values(40, 0.9, 100 + family)};
    for (std::uint32_t i = 1; i < 4; ++i) {
      columns.push_back(normal_values(40, 0, 100 * i + family));
    }
    by_largest += largest_flips(columns, each_with_zero(4))[0];
    by_least += least_flips(columns, each_with_zero(4))[0];
  }
  EXPECT_LT(by_least, 0.9 * by_largest);
}

// Half of the columns have light tails, half heavy ones: one is rejected at 5 % in 5 % of families.
TEST(LeastFlips, RejectSeldomInAWholeFamily) {
  int rejected = 0;
  for (std::uint32_t family = 0; family < 200; ++family) {
    std::vector<std::vector<double>> columns;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t stream = 5000 + 8 * family + i;
      columns.push_back(i % 2 == 0 ? normal_values(18, 0, stream) : heavy_values(18, 0, stream));
    }
    rejected += std::ranges::min(least_flips(columns, each_with_zero(8))) <= 0.05 ? 1 : 0;
  }
  EXPECT_LT(rejected, 21);
  EXPECT_GT(rejected, 2);
}

TEST(CorrectedFlips, CountAllPatternsOfFewTexts) {
  const std::vector<Contrast> one = {{.of = 0}};
  const std::vector<std::vector<double>> few = {heavy_values(16, 0.5, 1)};
  EXPECT_EQ(corrected_flips(few, one), largest_flips(few, one));
  const std::vector<std::vector<double>> more = {heavy_values(17, 0.5, 1),
                                                 heavy_values(17, 0.1, 2)};
  EXPECT_EQ(corrected_flips(more, each_with_zero(2)), least_flips(more, each_with_zero(2)));
  EXPECT_NE(corrected_flips(more, each_with_zero(2)), largest_flips(more, each_with_zero(2)));
}

TEST(FindingsOf, TellEqualityFromNoDifference) {
  const auto of = [](double mean, double margin, std::size_t count) {
    std::vector<double> values = normal_values(count, 0, 3);
    double sum = 0;
    for (const double value : values) sum += value;
    for (double& value : values) value += mean - sum / static_cast<double>(count);
    const PairedTest test = paired_test(values, margin);
    return findings_of({&test, 1}, {&test.p, 1}, {&test.outside_margin_p, 1}, 0.05).front();
  };
  EXPECT_EQ(of(3, 0.1, 12), Finding::higher);
  EXPECT_EQ(of(-3, 0.1, 12), Finding::lower);
  EXPECT_EQ(of(0.1, 0.2, 12), Finding::not_shown);
  EXPECT_EQ(of(0.1, 2, 12), Finding::equal);
  EXPECT_EQ(of(3, 0.1, 5), Finding::few);
  const PairedTest same = paired_test(std::vector<double>(3, 0.0), 1);
  EXPECT_EQ(findings_of({&same, 1}, {&same.p, 1}, {&same.p, 1}, 0.05).front(), Finding::same);
}

TEST(RankIntervals, AreWideWhereTextsDisagree) {
  // The first column is always the highest; the others change places.
  std::vector<std::vector<double>> values;
  for (int text = 0; text < 10; ++text) values.push_back({9, text % 2 * 1.0, (text + 1) % 2 * 1.0});
  const std::vector<Interval> ranks = rank_intervals(values);
  EXPECT_EQ(ranks[0].mean, 1);
  EXPECT_EQ(ranks[0].high, 1);
  EXPECT_EQ(ranks[1].mean, 2.5);
  EXPECT_EQ(ranks[1].low, 2);
  EXPECT_EQ(ranks[1].high, 3);
  values.resize(5);
  EXPECT_TRUE(std::isnan(rank_intervals(values)[0].low));
}

}  // namespace
}  // namespace kv::reports
