// The exact laws of the samplers: every possible sequence of draws, counted as integers.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/sampling/random.h"
#include "kvcheck/policies/sampling/reservoir.h"
#include "kvcheck/policies/sampling/reservoir_as_printed.h"
#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;
using Make = std::function<std::unique_ptr<Policy>()>;

std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t out = 1;
  while (exponent-- > 0) out *= base;
  return out;
}

std::uint64_t select(std::uint64_t n, std::uint64_t k) {
  std::uint64_t out = 1;
  for (std::uint64_t i = 1; i <= k; ++i) out = out * (n - k + i) / i;
  return out;
}

// How often each set is kept, in units of 1 / denominator, over all sequences of draws.
std::map<Kept, std::uint64_t> law_of(const Make& make,
                                     std::size_t k,
                                     std::size_t tokens,
                                     std::uint64_t denominator,
                                     bool in_one_bulk = false) {
  std::map<Kept, std::uint64_t> law;
  EveryDraw draws;
  do {
    const auto policy = make();
    MiniCache cache{.capacity = k};
    if (in_one_bulk) {
      for (std::size_t i = 0; i < tokens; ++i) cache.append();
      cache.trim(*policy, draws, Leaving::in_bulk);
    } else {
      cache.stream(tokens, *policy, draws);
    }
    KV_CHECK(denominator % draws.product() == 0);
    law[cache.residents] += denominator / draws.product();
  } while (draws.next());
  return law;
}

std::uint64_t inclusion(const std::map<Kept, std::uint64_t>& law, Position position) {
  std::uint64_t out = 0;
  for (const auto& [kept, weight] : law) {
    if (std::ranges::find(kept, position) != kept.end()) out += weight;
  }
  return out;
}

void expect_uniform(const std::map<Kept, std::uint64_t>& law,
                    std::size_t k,
                    std::size_t tokens,
                    std::uint64_t denominator) {
  ASSERT_EQ(law.size(), select(tokens, k)) << "k=" << k << " tokens=" << tokens;
  for (const auto& [kept, weight] : law) {
    EXPECT_EQ(weight * select(tokens, k), denominator) << "k=" << k << " tokens=" << tokens;
  }
}

TEST(ReservoirR, KeepsEverySetOfKWithExactlyTheSameProbability) {
  for (std::size_t k = 1; k <= 3; ++k) {
    for (std::size_t tokens = k + 1; tokens <= k + 4; ++tokens) {
      std::uint64_t denominator = 1;
      for (std::size_t m = k + 1; m <= tokens; ++m) denominator *= m * k;
      // 1/C(tokens, k) need not be a multiple of the paths' common denominator.
      denominator *= select(tokens, k);
      expect_uniform(law_of(make_reservoir_r, k, tokens, denominator), k, tokens, denominator);
    }
  }
}

TEST(ReservoirAsPrinted, SurvivesEachDecisionWithKOfKPlusOneTokenByToken) {
  const std::size_t k = 3;
  const std::size_t decisions = 5;
  const std::uint64_t denominator = power(k + 1, decisions);
  const auto law = law_of(make_reservoir_as_printed, k, k + decisions, denominator);
  for (std::size_t age = 1; age <= decisions; ++age) {
    const auto position = static_cast<Position>(k + decisions - age);
    EXPECT_EQ(inclusion(law, position), power(k, age) * power(k + 1, decisions - age)) << age;
  }
  EXPECT_EQ(inclusion(law, 0), power(k, decisions));
}

TEST(ReservoirAsPrinted, IsUniformOnlyInOneBulk) {
  const std::size_t k = 2;
  const std::size_t tokens = 6;
  const std::uint64_t denominator = select(tokens, k) * 3 * 4 * 5 * 6;
  expect_uniform(law_of(make_reservoir_as_printed, k, tokens, denominator, true), k, tokens,
                 denominator);
}

TEST(Random, AdmitsTheNewcomerAndThenKeepsItWithKMinusOneOfK) {
  const std::size_t k = 3;
  const std::size_t decisions = 6;
  const std::uint64_t denominator = power(k, decisions);
  const auto law = law_of(make_random, k, k + decisions, denominator);
  for (std::size_t age = 0; age < decisions; ++age) {
    const auto position = static_cast<Position>(k + decisions - 1 - age);
    EXPECT_EQ(inclusion(law, position), power(k - 1, age) * power(k, decisions - age)) << age;
  }
}

// Keys in a given order: the token at `position` has the key order[position].
class OrderedKeys final : public Draws {
 public:
  std::vector<std::uint64_t> order;

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t) override {
    KV_CHECK(order.at(position) < bound);
    return order[position];
  }

  double uniform(Position, std::uint32_t) override { return 0.5; }
};

TEST(ReservoirBottomK, KeepsTheSmallestKeysUnderEveryOrder) {
  constexpr std::size_t tokens = 6;
  for (std::size_t k = 1; k < tokens; ++k) {
    OrderedKeys draws;
    draws.order.resize(tokens);
    std::iota(draws.order.begin(), draws.order.end(), 0);
    std::map<Kept, std::uint64_t> law;
    do {
      const auto policy = make_reservoir_bottom_k();
      MiniCache cache{.capacity = k};
      cache.stream(tokens, *policy, draws);
      for (const Position kept : cache.residents) ASSERT_LT(draws.order[kept], k);
      ++law[cache.residents];
    } while (std::ranges::next_permutation(draws.order).found);
    expect_uniform(law, k, tokens, 720);
  }
}

TEST(ReservoirBottomK, DropsTheNewestAmongEqualKeys) {
  OrderedKeys draws;
  draws.order = {7, 7, 7, 1};
  const auto policy = make_reservoir_bottom_k();
  MiniCache cache{.capacity = 2};
  cache.stream(3, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0, 1}));
  cache.stream(1, *policy, draws);
  EXPECT_EQ(cache.residents, (Kept{0, 3}));
}

}  // namespace
}  // namespace kv
