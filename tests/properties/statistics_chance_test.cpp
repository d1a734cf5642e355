// The statistics against their theory: exact means and variances, rates of false alarm, known
// answers, and that each sees what it is for.
#include "kvcheck/properties/statistics/chance_tests.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kvcheck/properties/statistics/bins.h"
#include "kvcheck/properties/statistics/independence.h"
#include "kvcheck/properties/statistics/null_streams.h"
#include "kvcheck/tests/properties/statistics_samplers.h"

namespace kv::properties {
namespace {

// Mean and variance of a statistic over runs of `streams` streams of Algorithm R.
struct Moments {
  double mean = 0;
  double variance = 0;
  std::uint64_t runs = 0;
  std::uint64_t alarms = 0;  // p < 0.01
};

Moments moments_of(const Shape& shape,
                   std::uint64_t streams,
                   std::uint64_t runs,
                   const CountsRequested& requested,
                   const std::function<Statistic(const Counts&)>& statistic) {
  Moments moments{.runs = runs};
  double squares = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Statistic one = statistic(counted(shape, algorithm_r(), 1000 + run, streams, requested));
    moments.mean += one.value;
    squares += one.value * one.value;
    moments.alarms += one.p < 0.01 ? 1 : 0;
  }
  const auto n = static_cast<double>(runs);
  moments.mean /= n;
  moments.variance = squares / n - moments.mean * moments.mean;
  return moments;
}

// Within five standard errors; a chi-square's variance has relative error sqrt((2 + 12/f)/runs).
void expect_theory(const Moments& seen, double mean, double variance, double freedom) {
  const auto runs = static_cast<double>(seen.runs);
  EXPECT_NEAR(seen.mean, mean, 5 * std::sqrt(variance / runs));
  EXPECT_NEAR(seen.variance, variance, 5 * variance * std::sqrt((2 + 12 / freedom) / runs));
}

// A rate of 1 % within five standard errors.
void expect_rate(const Moments& seen) {
  const auto runs = static_cast<double>(seen.runs);
  EXPECT_NEAR(static_cast<double>(seen.alarms), 0.01 * runs, 5 * std::sqrt(0.0099 * runs));
}

TEST(Chance, T1HasItsExactMeanAndVariance) {
  for (const Shape shape : {Shape{8, 4}, Shape{16, 4}, Shape{5, 4}}) {
    const std::uint64_t streams = 100;
    const double freedom = shape.n - 1.0;
    const Moments seen = moments_of(shape, streams, 4000, {}, [](const Counts& counts) {
      return inclusion_test(counts, ChanceLaw::uniform).statistic;
    });
    expect_theory(seen, freedom, 2 * freedom * (1 - 1.0 / static_cast<double>(streams)), freedom);
    expect_rate(seen);
  }
}

TEST(Chance, T2HasItsExactMeanAndVariance) {
  const Moments seen =
      moments_of({.n = 16, .k = 4}, 1000, 800, {.pairs = true},
                 [](const Counts& counts) { return pair_test(counts)->statistic; });
  expect_theory(seen, 104, 208 * (1 - 1.0 / 1000), 104);
  expect_rate(seen);
}

TEST(Chance, DecisionsHaveTheirMeansAndVariances) {
  const Shape shape{.n = 16, .k = 4};
  const Moments accepted = moments_of(shape, 100, 3000, {}, [](const Counts& counts) {
    return acceptance_test(counts, ChanceLaw::uniform)->statistic;
  });
  expect_theory(accepted, 12, 24, 12);
  expect_rate(accepted);
  const Moments ranks = moments_of(
      shape, 100, 3000, {}, [](const Counts& counts) { return age_rank_test(counts)->statistic; });
  expect_theory(ranks, 3, 6, 3);
  expect_rate(ranks);
}

TEST(Chance, ContrastsAreStandardNormalOrRarer) {
  const Moments trend = moments_of({.n = 16, .k = 4}, 100, 3000, {}, [](const Counts& counts) {
    return trend_test(counts).statistic;
  });
  expect_theory(trend, 0, 1, 1);
  expect_rate(trend);
  const Moments largest = moments_of({.n = 16, .k = 4}, 200, 2000, {}, [](const Counts& counts) {
    return largest_test(counts).statistic;
  });
  EXPECT_LE(largest.alarms, 35U);
}

TEST(Chance, AgeLawsHaveTheirCovariance) {
  const Shape shape{.n = 12, .k = 4};
  for (const auto& [law, decide] : {std::pair{ChanceLaw::geometric, any_of_all()},
                                    std::pair{ChanceLaw::admitting, any_elder()}}) {
    double sum = 0;
    double freedom = 0;
    std::uint64_t alarms = 0;
    for (std::uint64_t run = 0; run < 1000; ++run) {
      const Statistic one = inclusion_test(counted(shape, decide, 5000 + run, 400), law).statistic;
      sum += one.value;
      freedom = one.freedom;
      alarms += one.p < 0.01 ? 1 : 0;
    }
    EXPECT_GE(freedom, 8);
    EXPECT_NEAR(sum / 1000, freedom, 5 * std::sqrt(2 * freedom / 1000));
    EXPECT_NEAR(static_cast<double>(alarms), 10, 16);
  }
}

TEST(Chance, LawsOfAgeAgreeWithTheirDecisions) {
  // By hand, k = 2, n = 4: two decisions for the first two tokens.
  EXPECT_NEAR(inclusion(ChanceLaw::geometric, {4, 2}, 0), 4.0 / 9, 1e-15);
  EXPECT_NEAR(inclusion(ChanceLaw::geometric, {4, 2}, 3), 2.0 / 3, 1e-15);
  EXPECT_NEAR(inclusion(ChanceLaw::admitting, {4, 2}, 0), 1.0 / 4, 1e-15);
  EXPECT_NEAR(inclusion(ChanceLaw::admitting, {4, 2}, 3), 1.0, 1e-15);
  EXPECT_NEAR(pair_inclusion(ChanceLaw::geometric, {4, 2}, 0, 1), 1.0 / 9, 1e-15);
  EXPECT_NEAR(pair_inclusion(ChanceLaw::admitting, {4, 2}, 2, 3), 1.0 / 2, 1e-15);
}

TEST(Chance, SeesWhatEachTestIsFor) {
  const Shape shape{.n = 16, .k = 4};
  const Counts few = counted(shape, dividing_by([](auto t, auto) { return t - 1; }), 1, 3000);
  EXPECT_LT(acceptance_test(few, ChanceLaw::uniform)->statistic.p, 1e-9);
  EXPECT_LT(inclusion_test(few, ChanceLaw::uniform).statistic.p, 1e-9);
  EXPECT_GT(age_rank_test(few)->statistic.p, 1e-4);

  const Counts aged = counted(shape, any_of_all(), 2, 500);
  EXPECT_LT(inclusion_test(aged, ChanceLaw::uniform).statistic.p, 1e-30);
  EXPECT_GT(inclusion_test(aged, ChanceLaw::geometric).statistic.p, 1e-4);
  EXPECT_LT(trend_test(aged).statistic.p, 1e-30);

  const auto oldest = [](Draws& draws, std::uint32_t t, std::uint32_t k) {
    return draws.below(t, t, 0) < k ? 0U : k;
  };
  const Counts queue = counted(shape, oldest, 3, 500);
  EXPECT_LT(age_rank_test(queue)->statistic.p, 1e-30);
  EXPECT_GT(acceptance_test(queue, ChanceLaw::uniform)->statistic.p, 1e-4);
  EXPECT_LT(
      acceptance_test(counted(shape, algorithm_r(), 4, 50), ChanceLaw::admitting)->statistic.p,
      1e-9);
}

// Every 4th token from a random start: each is kept with 1/4, but only four sets ever occur.
TEST(Chance, PairsSeeWhatInclusionCannot) {
  const Shape shape{.n = 16, .k = 4};
  Counts counts(shape, {.pairs = true});
  const Rng rng(5);
  for (Position r = 0; r < 1000; ++r) {
    const auto start = static_cast<std::uint32_t>(rng.below(4, r));
    counts.add({.kept = {start, start + 4, start + 8, start + 12}, .gone = {}});
  }
  EXPECT_GT(inclusion_test(counts, ChanceLaw::uniform).statistic.p, 1e-4);
  EXPECT_LT(pair_test(counts)->statistic.p, 1e-100);
}

TEST(Chance, SubsetsOfTinyCases) {
  const Counts right = counted({.n = 5, .k = 2}, algorithm_r(), 6, 2000, {.subsets = true});
  const std::optional<ChanceTest> held = subset_test(right);
  ASSERT_TRUE(held.has_value());
  EXPECT_EQ(held->statistic.freedom, 9);
  EXPECT_GT(held->statistic.p, 1e-4);
  const Counts wrong = counted({.n = 5, .k = 2}, any_of_all(), 6, 2000, {.subsets = true});
  EXPECT_LT(subset_test(wrong)->statistic.p, 1e-9);
}

TEST(Chance, FewStreamsAreSimulated) {
  const Counts few = counted({.n = 64, .k = 4}, algorithm_r(), 7, 4);
  const Statistic statistic = inclusion_test(few, ChanceLaw::uniform).statistic;
  EXPECT_NE(statistic.what.find("simulation"), std::string::npos);
  EXPECT_GT(statistic.p, 1e-3);
  EXPECT_LE(statistic.p, 1);
  Counts same({.n = 64, .k = 4}, {});
  for (int r = 0; r < 4; ++r) same.add({.kept = {1, 2, 3, 4}, .gone = {}});
  EXPECT_LT(inclusion_test(same, ChanceLaw::uniform).statistic.p, 0.01);
}

TEST(Chance, DetectableIsWhereThePowerIs) {
  // At the effect that the test says it sees with power 0.99 it must reject about so often.
  const Shape shape{.n = 16, .k = 4};
  const Counts counts = counted(shape, algorithm_r(), 8, 3000);
  const ChanceTest test = *acceptance_test(counts, ChanceLaw::uniform);
  const double effect = detectable(test, 1e-3, 0.99);
  const Decide tilted = [effect](Draws& draws, std::uint32_t t, std::uint32_t k) {
    const double share = (1 + effect) * static_cast<double>(k) / static_cast<double>(t);
    return draws.uniform(t, 0) < share ? static_cast<std::uint32_t>(draws.below(k, t, 1)) : k;
  };
  int rejected = 0;
  for (std::uint64_t run = 0; run < 200; ++run) {
    const Counts biased = counted(shape, tilted, 9000 + run, 3000);
    rejected += acceptance_test(biased, ChanceLaw::uniform)->statistic.p < 1e-3 ? 1 : 0;
  }
  EXPECT_GE(rejected, 190);
  EXPECT_LT(effect, 0.1);
}

TEST(Chance, IndependenceIsTwoSided) {
  const Shape shape{.n = 12, .k = 4};
  Overlaps apart(shape, 3);
  Overlaps shared(shape, 3);
  Overlaps disjoint(shape, 3);
  for (std::uint64_t r = 0; r < 400; ++r) {
    const auto set_of = [&](std::uint64_t seed) {
      DecidingSampler sampler(shape, algorithm_r());
      Replicate one;
      EXPECT_TRUE(sampler.sample(seed, one).has_value());
      return one.kept;
    };
    apart.add(std::vector{set_of(3 * r), set_of(3 * r + 1), set_of(3 * r + 2)});
    shared.add(std::vector{set_of(3 * r), set_of(3 * r), set_of(3 * r + 2)});
    disjoint.add(
        std::vector<std::vector<std::uint32_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  }
  EXPECT_LT(std::abs(independence_test(apart, ChanceLaw::uniform, "heads").statistic.value), 4);
  EXPECT_GT(independence_test(shared, ChanceLaw::uniform, "heads").statistic.value, 10);
  EXPECT_LT(independence_test(disjoint, ChanceLaw::uniform, "heads").statistic.value, -10);
}

// The same number as Z = (sum T1 - R (n-1)) / sqrt(2 R (n-1) (1 - 1/M)).
TEST(Chance, OverlapIsTheSumOfT1) {
  const Shape shape{.n = 9, .k = 3};
  Overlaps overlaps(shape, 4);
  double sum = 0;
  const double groups = 50;
  const double scale = 3.0 * 6 / (9 * 8);
  for (std::uint64_t r = 0; r < 50; ++r) {
    std::vector<std::vector<std::uint32_t>> sets;
    std::vector<double> kept(9, 0.0);
    for (std::uint64_t head = 0; head < 4; ++head) {
      DecidingSampler sampler(shape, algorithm_r());
      Replicate one;
      ASSERT_TRUE(sampler.sample(100 * r + head, one).has_value());
      for (const std::uint32_t token : one.kept) ++kept[token];
      sets.push_back(one.kept);
    }
    for (const double count : kept) sum += (count - 4.0 / 3) * (count - 4.0 / 3) / (4 * scale);
    overlaps.add(sets);
  }
  const double z = (sum - groups * 8) / std::sqrt(2 * groups * 8 * 0.75);
  EXPECT_NEAR(independence_test(overlaps, ChanceLaw::uniform, "heads").statistic.value, z, 1e-9);
}

TEST(Chance, TailsAgreeWithKnownValues) {
  EXPECT_NEAR(chi_square_tail(3.841458820694124, 1), 0.05, 1e-12);
  EXPECT_NEAR(normal_tail(1.959963984540054), 0.05, 1e-12);
  EXPECT_NEAR(binomial_tail(0, 10, 0.5), 2.0 / 1024, 1e-15);
  EXPECT_NEAR(noncentrality(0, 0.05, 0.8), 7.8489, 1e-3);
  EXPECT_NEAR(noncentrality(1, 0.05, 0.8), 7.8489, 1e-3);
  const Bounds bounds = exact_bounds(0, 100, 0.05);
  EXPECT_EQ(bounds.low, 0);
  EXPECT_NEAR(bounds.high, 1 - std::pow(0.025, 0.01), 1e-9);
}

TEST(Chance, CellsExpectEnough) {
  const std::vector<double> in(10, 4);
  const std::vector<BinRange> bins = pooled(in, in, 10);
  ASSERT_EQ(bins.size(), 3U);
  EXPECT_EQ(bins[0].size(), 3U);
  EXPECT_EQ(bins[2].last, 10U);
  std::size_t rank = 0;
  EXPECT_NEAR(quadratic_form({4, 2, 2, 3}, {2, 1}, rank), 1.0, 1e-12);
  EXPECT_EQ(rank, 2U);
}

}  // namespace
}  // namespace kv::properties
