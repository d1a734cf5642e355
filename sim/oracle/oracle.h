// The oracle: the most attention that any cache of a given size could have retained on a recorded
// stream, had it known the future.
//
// One unit. Query t sees a set V_t of tokens. What every cache here does, whatever its policy:
//     t is in V_t                   a query sees its own key
//     V_t - {t} is within V_{t-1}   what was evicted never comes back
//     |V_t| <= limits[t]            sim/cache/visible_limits.h: budget, timing, visibility, chunk
// The optimum is the largest sum over t of the mass that query t pays to V_t, over all such sets.
// It knows no sinks, recent window or policy, so it bounds every policy with the same limits.
//
// Structure. Dropping more than the limits force never helps, so before query t exactly
// limits[t-1] + 1 - limits[t] tokens leave, and a token that leaves before t costs what queries
// from t on pay to it. So evictions are matched with tokens, at the least cost, and an eviction
// before t may take any token below t: an assignment problem. Solved by shortest augmenting paths
// (Jonker and Volgenant 1987), one eviction after another.
//
// Certificate. Whatever prices p <= 0 the tokens have, no matching costs less than
//     sum over evictions of min over tokens of (cost - p)  +  sum over tokens of p,
// so the bound is computed anew from the prices that the search ends with. It does not depend on
// the search being right; a wrong search could only give a larger, still true bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/sim/oracle/future_mass.h"

namespace kv {

struct Optimum {
  double bound = 0;    // no irrevocable cache within the limits retains more; summed over queries
  double reached = 0;  // what the schedule below retains; at most `bound`, up to rounding

  // [tokens]: tokens seen when the position is evicted, tokens + 1 if it never is, as in
  // Residency::evicted_at.
  std::vector<Position> evicted_at;
};

// How far `bound` may be above `reached`, as a share of the total mass: rounding of double sums.
// irrevocable_optimum checks it.
inline constexpr double oracle_gap = 1e-9;

// The optimum under `limits`: [tokens], each at least 1. Nothing only if `go_on`, asked before each
// eviction, says no. Cost: O(evictions^2 * tokens) at worst, usually a third of that;
// bench/README.md has times. Memory beside the masses: O(tokens).
std::optional<Optimum> irrevocable_optimum(const FutureMass& masses,
                                           std::span<const std::uint32_t> limits,
                                           const std::function<bool()>& go_on = {});

// The looser bound, which re-admission would have to be free for: each query sees its own key and
// the heaviest others. One row after another, in any order.
class PerStepTop {
 public:
  // What a query that may see `limit` rows retains of `mass`: [query + 1].
  double retained(std::span<const double> mass, std::uint32_t limit);

 private:
  std::vector<double> others_;
};

// A cache that knows the future and drops, whenever it must, what will be attended to least. No
// bound: between a tenth of a percent and a seventh below the optimum in our tests. Linear memory.
class GreedyCache {
 public:
  // `future`: [tokens], what all queries pay to each token. `limits` as above.
  GreedyCache(std::vector<double> future, std::span<const std::uint32_t> limits);

  // What the next query, with this row, retains.
  double next(std::span<const double> mass);

 private:
  void drop(std::size_t count);

  std::vector<double> future_;  // of the queries still to come
  std::vector<std::uint32_t> limits_;
  std::vector<Position> held_;  // increasing
  std::vector<Position> order_;
};

}  // namespace kv
