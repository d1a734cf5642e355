#include "kvcheck/policies/sampling/reservoir.h"

#include <cmath>

#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

// The paper's figure 4: start_size = sample_size = recent_size = 2. Generating token 6, token 4
// enters with 2/(7-2-2) = 2/3 and replaces 2; then 5 has 2/(8-2-2) = 1/2 and does not enter; then 6
// enters with 2/5 and replaces 3.
TEST(ReservoirR, FollowsThePapersWorkedExample) {
  const auto policy = make_reservoir_r();
  ScriptedDraws draws;
  draws.numbers = {1, 0, 2, 1, 0};
  MiniCache cache{.sinks = 2, .recent = 2, .capacity = 2};

  cache.stream(7, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0, 1, 3, 4, 5, 6}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0, 1, 3, 4, 6, 7}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0, 1, 4, 6, 7, 8}));

  using Asked = ScriptedDraws::Asked;
  EXPECT_EQ(draws.asked,
            (std::vector<Asked>{{3, 4, 0}, {2, 4, 1}, {4, 5, 0}, {5, 6, 0}, {2, 6, 1}}));
}

TEST(ReservoirR, AdmitsBelowKAndRefusesAtK) {
  ScriptedDraws draws;
  draws.numbers = {2, 0, 3};
  const auto policy = make_reservoir_r();
  MiniCache cache{.capacity = 3};
  cache.stream(5, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{1, 2, 3}));
}

// k = 2: W = 0.25^(1/2) = 1/2 and floor(ln 0.3 / ln 1/2) = 1: the third token is refused, the
// fourth enters. Then W = 1/4 and floor(ln 0.6 / ln 3/4) = 1: the fifth is refused, the sixth
// enters. Then W = 1/8 and floor(ln 0.9 / ln 7/8) = 0: the seventh enters.
TEST(ReservoirL, SkipsAsItsFormulaSays) {
  const auto policy = make_reservoir_l();
  ScriptedDraws draws;
  draws.uniforms = {0.25, 0.3, 0.25, 0.6, 0.25, 0.9, 0.25, 0.5};
  draws.numbers = {0, 1, 0};
  MiniCache cache{.capacity = 2};
  cache.stream(3, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0, 1}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{1, 3}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{1, 3}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{1, 5}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{5, 6}));
}

// 1 - 1e-17 is 1 in a double, and its logarithm 0; the skip is ln(1 - 2^-53) / ln(1 - 1e-17) = 11.1
// all the same.
TEST(ReservoirL, RemainsExactWhenWIsTiny) {
  const auto policy = make_reservoir_l();
  ScriptedDraws draws;
  draws.uniforms = {1e-17, 1 - 0x1p-53, 0.5, 0.5};
  draws.numbers = {0};
  MiniCache cache{.capacity = 1};
  cache.stream(12, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{12}));
}

TEST(ReservoirL, NeverEntersAgainWhenTheSkipIsBeyondCounting) {
  const auto policy = make_reservoir_l();
  ScriptedDraws draws;
  draws.uniforms = {1e-300, 0.5};
  MiniCache cache{.capacity = 1};
  cache.stream(1000, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0}));
}

struct Counts {
  std::vector<double> single;  // how often each position was kept
  std::vector<double> pair;    // how often each position was kept beside its successor
};

Counts count_kept(std::string_view algorithm, std::size_t k, std::size_t tokens, unsigned trials) {
  Counts counts{std::vector<double>(tokens), std::vector<double>(tokens - 1)};
  for (unsigned trial = 0; trial < trials; ++trial) {
    const auto policy = make_reservoir(algorithm);
    CounterDraws draws(Rng(12345, trial));
    MiniCache cache{.capacity = k};
    cache.stream(tokens, *policy, draws);
    for (std::size_t i = 0; i < k; ++i) {
      const Position kept = cache.residents[i];
      ++counts.single[kept];
      if (i + 1 < k && cache.residents[i + 1] == kept + 1) ++counts.pair[kept];
    }
  }
  return counts;
}

// Counts of a sample of fixed size are negatively correlated; with this scale the sum is
// chi-square with n - 1 degrees of freedom. With 59 of them, 141 is exceeded with a probability of
// 1.4e-8; the seeds are fixed, so the test does not flicker. Power: above 0.99 when 20,000 samples
// of 8 from 60 have inclusion probabilities that are off by 3 % (root mean square). The slips of
// Algorithm L tried give 11,151 (skip + 1), 447,257 (W not multiplied on) and 1,211 (exponent
// 1/(k + 1)).
void expect_uniform(const Counts& counts, std::size_t k, unsigned trials) {
  const auto n = static_cast<double>(counts.single.size());
  const double p = static_cast<double>(k) / n;
  const double pair = p * static_cast<double>(k - 1) / (n - 1);
  double sum = 0;
  for (const double count : counts.single) sum += std::pow(count - trials * p, 2);
  EXPECT_LT(sum / (trials * p * (1 - p)) * (n - 1) / n, 141);
  for (const double count : counts.pair) {
    EXPECT_LT(std::abs(count - trials * pair), 6 * std::sqrt(trials * pair)) << "neighbours";
  }
}

TEST(ReservoirL, IsUniformOverPositionsAndNeighbours) {
  expect_uniform(count_kept("l", 8, 60, 20000), 8, 20000);
}

TEST(ReservoirR, IsUniformWithRealDraws) {
  expect_uniform(count_kept("r", 8, 60, 20000), 8, 20000);
}

TEST(ReservoirBottomK, IsUniformWithRealDraws) {
  expect_uniform(count_kept("bottom-k", 8, 60, 20000), 8, 20000);
}

}  // namespace
}  // namespace kv
