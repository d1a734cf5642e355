#include "kvcheck/sim/oracle/oracle.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/random/rng.h"

namespace kv {
namespace {

using Rows = std::vector<std::vector<double>>;  // [tokens][query + 1]
using Limits = std::vector<std::uint32_t>;

// Rows that sum to one, of one of four kinds: even, skewed, of few values (ties), mostly zero.
Rows random_rows(std::size_t tokens, std::uint64_t seed) {
  const Rng rng(seed);
  Rows rows(tokens);
  for (std::size_t query = 0; query < tokens; ++query) {
    double sum = 0;
    for (std::size_t token = 0; token <= query; ++token) {
      const double u = rng.uniform(static_cast<Position>(query * tokens + token));
      double weight = u;
      if (seed % 4 == 1) weight = u * u * u * u;
      if (seed % 4 == 2) weight = std::floor(3 * u) + (token == query ? 1 : 0);
      if (seed % 4 == 3) weight = u < 0.8 && token != query ? 0 : u;
      rows[query].push_back(weight);
      sum += weight;
    }
    for (double& weight : rows[query]) weight /= sum;
  }
  return rows;
}

FutureMass future_of(const Rows& rows) {
  FutureMass masses(rows.size());
  for (std::size_t query = 0; query < rows.size(); ++query) {
    masses.set_row(static_cast<Position>(query), rows[query]);
  }
  masses.close();
  return masses;
}

// Budgets, saw-teeth and anything else: each query's limit is drawn.
Limits random_limits(std::size_t tokens, std::uint64_t seed) {
  const Rng rng(seed, 1);
  const std::uint64_t budget = 1 + rng.below(4, 0);
  const std::uint64_t tooth = 1 + rng.below(4, 1);
  Limits limits;
  for (std::size_t query = 0; query < tokens; ++query) {
    const std::uint64_t drawn = 1 + rng.below(tokens, static_cast<Position>(query + 2));
    limits.push_back(
        static_cast<std::uint32_t>(seed % 3 == 0 ? drawn : budget + (query + 1) % tooth));
  }
  return limits;
}

// The definition, word for word, over all sets of tokens.
double by_brute_force(const Rows& rows, const Limits& limits) {
  constexpr double impossible = -1;
  std::vector<double> best = {0};  // by the set that the last query saw
  for (std::size_t query = 0; query < rows.size(); ++query) {
    std::vector<double> next(std::size_t{2} << query, impossible);
    for (std::size_t before = 0; before < best.size(); ++before) {
      if (best[before] == impossible) continue;
      for (std::size_t kept = before;; kept = (kept - 1) & before) {
        const std::size_t seen = kept | std::size_t{1} << query;
        if (static_cast<std::uint32_t>(__builtin_popcountll(seen)) <= limits[query]) {
          double mass = best[before];
          for (std::size_t token = 0; token <= query; ++token) {
            if ((seen >> token & 1) != 0) mass += rows[query][token];
          }
          next[seen] = std::max(next[seen], mass);
        }
        if (kept == 0) break;
      }
    }
    best = std::move(next);
  }
  return *std::ranges::max_element(best);
}

// What a schedule retains; fails where it breaks a limit.
double played(const Rows& rows, const Limits& limits, const std::vector<Position>& evicted_at) {
  double retained = 0;
  for (std::size_t query = 0; query < rows.size(); ++query) {
    std::uint32_t seen = 0;
    for (std::size_t token = 0; token <= query; ++token) {
      if (evicted_at[token] <= query) continue;
      retained += rows[query][token];
      ++seen;
    }
    EXPECT_LE(seen, limits[query]);
    EXPECT_GT(evicted_at[query], query);  // its own key
  }
  return retained;
}

double greedy_of(const Rows& rows, const Limits& limits) {
  std::vector<double> future(rows.size());
  for (const auto& row : rows) {
    for (std::size_t token = 0; token < row.size(); ++token) future[token] += row[token];
  }
  GreedyCache cache(std::move(future), limits);
  double retained = 0;
  for (const auto& row : rows) retained += cache.next(row);
  return retained;
}

double per_step_of(const Rows& rows, const Limits& limits) {
  PerStepTop top;
  double retained = 0;
  for (std::size_t query = 0; query < rows.size(); ++query) {
    retained += top.retained(rows[query], limits[query]);
  }
  return retained;
}

TEST(Oracle, EqualsBruteForceOnTwoThousandSmallTraces) {
  std::size_t with_evictions = 0;
  std::size_t above_greedy = 0;
  std::size_t below_per_step = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const std::size_t tokens = 1 + seed % 10;
    const Rows rows = random_rows(tokens, seed);
    const Limits limits = random_limits(tokens, seed / 10);
    const auto optimum = irrevocable_optimum(future_of(rows), limits);
    ASSERT_TRUE(optimum);
    const double requested = by_brute_force(rows, limits);
    ASSERT_NEAR(optimum->bound, requested, 1e-12) << seed;
    ASSERT_NEAR(optimum->reached, requested, 1e-12) << seed;
    ASSERT_NEAR(played(rows, limits, optimum->evicted_at), requested, 1e-12) << seed;
    const auto evicted =
        std::ranges::count_if(optimum->evicted_at, [&](Position at) { return at <= tokens; });
    with_evictions += evicted > 0 ? 1U : 0U;
    above_greedy += requested > greedy_of(rows, limits) + 1e-9 ? 1U : 0U;
    below_per_step += requested < per_step_of(rows, limits) - 1e-9 ? 1U : 0U;
  }
  EXPECT_GT(with_evictions, 1000U);
  EXPECT_GT(above_greedy, 80U);
  EXPECT_GT(below_per_step, 300U);
}

TEST(Oracle, StandsBetweenGreedyAndPerStepAndGrowsWithTheBudget) {
  constexpr std::size_t tokens = 90;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Rows rows = random_rows(tokens, seed);
    const FutureMass masses = future_of(rows);
    double last = 0;
    for (std::uint32_t budget = 1; budget <= tokens; budget += 1 + budget / 4) {
      const Limits limits(tokens, budget);
      const auto optimum = irrevocable_optimum(masses, limits);
      EXPECT_NEAR(played(rows, limits, optimum->evicted_at), optimum->bound, 1e-9);
      EXPECT_LE(greedy_of(rows, limits), optimum->bound + 1e-9) << seed << " " << budget;
      EXPECT_LE(optimum->bound, per_step_of(rows, limits) + 1e-9) << seed << " " << budget;
      EXPECT_LE(per_step_of(rows, limits), tokens + 1e-9);
      EXPECT_GE(optimum->bound, last - 1e-9) << seed << " " << budget;
      last = optimum->bound;
    }
    const auto whole = irrevocable_optimum(masses, Limits(tokens, tokens));
    EXPECT_NEAR(whole->bound, tokens, 1e-9);
    EXPECT_EQ(whole->evicted_at, std::vector<Position>(tokens, tokens + 1));
  }
}

// With room for two, its own key included, query 2 loses one of tokens 0 and 1. Token 1 pays more
// then, but token 0 pays much at query 3; without that query token 0 is evicted.
TEST(Oracle, KnowsAnExampleThatOneCanWorkOutByHand) {
  const Rows rows = {{1}, {0.25, 0.75}, {0.25, 0.5, 0.25}, {0.75, 0, 0, 0.25}};
  const Limits limits = {1, 2, 2, 2};
  const auto optimum = irrevocable_optimum(future_of(rows), limits);
  EXPECT_NEAR(optimum->bound, 1 + 1 + (0.25 + 0.25) + (0.75 + 0.25), 1e-12);
  EXPECT_EQ(optimum->evicted_at, (std::vector<Position>{5, 2, 3, 5}));
  const Rows shorter(rows.begin(), rows.begin() + 3);
  const auto without = irrevocable_optimum(future_of(shorter), Limits{1, 2, 2});
  EXPECT_NEAR(without->bound, 1 + 1 + (0.5 + 0.25), 1e-12);
  EXPECT_EQ(without->evicted_at, (std::vector<Position>{2, 4, 4}));
  EXPECT_NEAR(per_step_of(rows, limits), 1 + 1 + 0.75 + 1, 1e-12);
}

// Before query 2 one of tokens 0 and 1 leaves, before query 3 one of those left. Token 1 pays 0.4
// at query 2 and token 0 pays at query 3, where token 2 pays more than either.
TEST(Oracle, BeatsGreedyWhereTimeMatters) {
  const Limits limits = {1, 2, 2, 2};
  // Token 0 has less to come: greedy drops it, then token 1 when that has paid.
  const Rows rows = {{1}, {0, 1}, {0, 0.4, 0.6}, {0.3, 0, 0.6, 0.1}};
  EXPECT_NEAR(greedy_of(rows, limits), 4 - 0.3, 1e-12);
  EXPECT_NEAR(irrevocable_optimum(future_of(rows), limits)->bound, 4 - 0.3, 1e-12);
  // Token 0 has more to come: greedy drops token 1 for it, and must drop it all the same.
  const Rows late = {{1}, {0, 1}, {0, 0.4, 0.6}, {0.45, 0, 0.5, 0.05}};
  EXPECT_NEAR(greedy_of(late, limits), 4 - 0.4 - 0.45, 1e-12);
  EXPECT_NEAR(irrevocable_optimum(future_of(late), limits)->bound, 4 - 0.45, 1e-12);
}

TEST(Oracle, StopsWhenItIsAskedTo) {
  const FutureMass masses = future_of(random_rows(12, 1));
  int asked = 0;
  const auto optimum = irrevocable_optimum(masses, Limits(12, 3), [&] { return ++asked < 4; });
  EXPECT_FALSE(optimum);
  EXPECT_EQ(asked, 4);
}

// Mutants of the bound: with one row less it is beaten, and what re-admits beats it.
TEST(Oracle, IsBeatenByACacheWithOneMoreRowOrThatTakesTokensBack) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Rows rows = random_rows(60, seed);
    const double bound = irrevocable_optimum(future_of(rows), Limits(60, 10))->bound;
    EXPECT_GT(greedy_of(rows, Limits(60, 12)), bound + 1e-6) << seed;
    EXPECT_GT(per_step_of(rows, Limits(60, 10)), bound + 1e-6) << seed;
  }
}

}  // namespace
}  // namespace kv
