// The oracle: the most attention that any cache of a given size could have retained on a recorded
// stream, had it known the future.
//
// Consider one unit, in which query t sees a set V_t of tokens. For every cache, whatever its
// policy:
//     t is in V_t                   a query sees its own key
//     V_t - {t} is within V_{t-1}   evicted tokens never come back
//     |V_t| <= limits[t]            sim/cache/visible_limits.h: budget, timing, visibility, chunk
// The optimum is the largest sum over t of the mass that query t pays to V_t, over all such sets.
// It has no sinks, recent window or policy, so it bounds every policy with the same limits.
//
// Structure: it never helps to evict more tokens than the limits force. Before query t exactly
// limits[t-1] + 1 - limits[t] tokens are therefore evicted. A token that is evicted before t costs
// the mass that the queries from t on pay to it. The problem is to match evictions with tokens at
// the least cost, where an eviction before t may take any token below t: an assignment problem. It
// is solved by shortest augmenting paths (Jonker and Volgenant 1987), one eviction after another.
//
// Certificate: for all prices p <= 0 of the tokens, no matching costs less than
//     sum over evictions of min over tokens of (cost - p)  +  sum over tokens of p.
// The bound is computed from the prices at the end of the search and does not rely on the search
// itself: an error in the search could only give a larger bound, which would still be valid.
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
  double bound = 0;    // no cache that keeps the rules above retains more; summed over queries
  double reached = 0;  // the mass that evicted_at retains; at most `bound`, up to rounding

  // [tokens]: the number of tokens seen when the position is evicted, or tokens + 1 if it never is,
  // as in Residency::evicted_at.
  std::vector<Position> evicted_at;
};

// The largest difference of `bound` and `reached`, as a share of the total mass. It allows for
// rounding of double sums, and irrevocable_optimum checks it.
inline constexpr double oracle_gap = 1e-9;

// The optimum under `limits`: [tokens], each at least 1. `go_on` is called before each eviction; if
// it returns false, there is no result. Cost: O(evictions^2 * tokens) at worst, usually a third of
// that; bench/README.md has times. Memory beside the masses: O(tokens).
std::optional<Optimum> irrevocable_optimum(const FutureMass& masses,
                                           std::span<const std::uint32_t> limits,
                                           const std::function<bool()>& go_on = {});

// A looser bound, under which evicted tokens may come back: each query sees its own key and the
// heaviest others. Rows may be given in any order.
class PerStepTop {
 public:
  // The mass that a query retains of `mass` ([query + 1]) if it may see `limit` rows.
  double retained(std::span<const double> mass, std::uint32_t limit);

 private:
  std::vector<double> others_;
};

// A cache that knows the future and evicts, whenever it must, the token with the least future mass.
// It is not a bound: in our tests it is between a tenth of a percent and a seventh below the
// optimum. Memory: O(tokens).
class GreedyCache {
 public:
  // `future`: [tokens], the mass that all queries pay to each token. `limits` as above.
  GreedyCache(std::vector<double> future, std::span<const std::uint32_t> limits);

  // The mass that the next query retains of its row `mass`.
  double next(std::span<const double> mass);

 private:
  void drop(std::size_t count);

  std::vector<double> future_;  // of the queries still to come
  std::vector<std::uint32_t> limits_;
  std::vector<Position> held_;  // increasing
  std::vector<Position> order_;
};

}  // namespace kv
