// Weighted samples against the inclusion probabilities that their sources promise.
#include <cmath>

#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/sampling/reservoir_chao.h"
#include "kvcheck/policies/sampling/reservoir_es.h"
#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Make = std::unique_ptr<Policy> (*)(Weight);

constexpr unsigned trials = 20000;

// How often each token of these weights is in a middle of k, of all trials.
std::vector<double> shares(Make make, std::size_t k, const std::vector<float>& weights) {
  std::vector<double> counts(weights.size());
  for (unsigned trial = 0; trial < trials; ++trial) {
    const auto policy = make(Weight::value_norm);
    CounterDraws draws(Rng(77, trial));
    MiniCache cache{.capacity = k};
    for (const float weight : weights) feed_head(cache, *policy, draws, {.value = {weight}});
    for (const Position kept : cache.residents) counts[kept] += 1.0 / trials;
  }
  return counts;
}

// Within five standard deviations: by chance one test in ten thousand would fail, but its seed is
// fixed.
void expect_shares(const std::vector<double>& measured, const std::vector<double>& requested) {
  ASSERT_EQ(measured.size(), requested.size());
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const double deviation = std::sqrt(requested[i] * (1 - requested[i]) / trials);
    EXPECT_NEAR(measured[i], requested[i], 5 * deviation + 1e-9) << i;
  }
}

TEST(ReservoirChao, IncludesInProportionToWeight) {
  expect_shares(shares(make_reservoir_chao, 2, {1, 2, 3, 4, 1, 9}), {0.1, 0.2, 0.3, 0.4, 0.1, 0.9});
}

// 2 * 30 / 41 is above 1: the last is always kept, and the others share the other place.
TEST(ReservoirChao, KeepsTheOverweightForSure) {
  expect_shares(shares(make_reservoir_chao, 2, {1, 2, 3, 4, 1, 30}),
                {1.0 / 11, 2.0 / 11, 3.0 / 11, 4.0 / 11, 1.0 / 11, 1});
}

// The first is overweight until the next heavy ones come, and then one of four alike.
TEST(ReservoirChao, EvictsATokenThatIsNoLongerOverweight) {
  const double heavy = 60.0 / 123;
  const double light = 2.0 / 123;
  expect_shares(shares(make_reservoir_chao, 2, {30, 1, 1, 1, 30, 30, 30}),
                {heavy, light, light, light, heavy, heavy, heavy});
}

// Drawn one after another: 1/6 first, or second after 2 (1/3 * 1/4) or after 3 (1/2 * 1/3).
TEST(ReservoirEs, IncludesAsDrawingWithoutReplacementDoes) {
  const double of_1 = 1.0 / 6 + 1.0 / 12 + 1.0 / 6;
  const double of_2 = 1.0 / 3 + 1.0 / 6 * 2 / 5 + 1.0 / 2 * 2 / 3;
  expect_shares(shares(make_reservoir_es, 2, {1, 2, 3}), {of_1, of_2, 2 - of_1 - of_2});
}

TEST(ReservoirEs, OfOneIncludesInProportionToWeight) {
  expect_shares(shares(make_reservoir_es, 1, {1, 2, 3, 4}), {0.1, 0.2, 0.3, 0.4});
}

TEST(WeightedReservoirs, AreUniformWithEqualWeights) {
  for (const Make make : {&make_reservoir_chao, &make_reservoir_es}) {
    std::vector<double> counts(12);
    for (unsigned trial = 0; trial < trials; ++trial) {
      const auto policy = make(Weight::equal);
      CounterDraws draws(Rng(5, trial));
      MiniCache cache{.capacity = 4};
      cache.stream(12, *policy, draws);
      for (const Position kept : cache.residents) counts[kept] += 1.0 / trials;
    }
    expect_shares(counts, std::vector<double>(12, 1.0 / 3));
  }
}

// The mean of what queries paid since arrival: 0 has (1 + 0.2 + 0.1) / 3, 1 has (0.8 + 0.3) / 2.
TEST(TokenWeights, AreTheMeanAttentionSinceArrival) {
  TokenWeights weights(Weight::attention);
  for (const auto& row : {std::vector<float>{1}, {0.2F, 0.8F}, {0.1F, 0.3F, 0.6F}}) {
    weights.observe({.mass = row});
  }
  EXPECT_NEAR(weights.at(0), 1.3 / 3, 1e-6);
  EXPECT_NEAR(weights.at(1), 0.55, 1e-6);
  const std::vector<std::size_t> first = {0};
  weights.forget(first);
  EXPECT_NEAR(weights.at(0), 0.55, 1e-6);
  EXPECT_NEAR(weights.at(1), 0.6, 1e-6);
}

}  // namespace
}  // namespace kv
