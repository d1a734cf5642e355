// A budget pool: the caches whose units share one budget and therefore decide together. These are
// the caches of one layer under budgets=adaptive. Any other cache is a pool of one.
//
// Only decisions differ from those of a single cache. All caches of the pool first release the
// tokens that their timing requires. Then the lowest scores of all middles together are evicted
// (sim/cache/pooled_scores.h), and then rows are freed. After that each is a cache like any other,
// with a middle of its own size. A pool has no state between decisions: it may be made again
// whenever caches have moved.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {

class BudgetPool {
 public:
  // Adds a cache, which outlives the pool and does not move. A pool holds all caches of one layer,
  // in the order of their heads, if they share a budget, and one cache otherwise. Requires that all
  // were made from one spec.
  void add(UnitCache& cache);

  // UnitCache::begin_chunk for all caches.
  void begin_chunk(std::size_t tokens);

  // To be called before next_query of each cache. If every query has a window of its own, it
  // decides for the next query.
  void before_query();

  // UnitCache::end_chunk for all caches.
  void end_chunk();

 private:
  [[nodiscard]] bool shares() const { return !trims_.empty(); }

  // Evicts the lowest scores of all middles once they hold more than their capacities together.
  void decide();

  std::vector<UnitCache*> caches_;
  std::vector<UnitCache::Trim> trims_;  // one per cache, if they share
};

// A cache and its unit's layer.
struct LayerCache {
  std::size_t layer = 0;
  UnitCache* cache = nullptr;
};

// The pools of these caches, which must be ordered by layer. The caches of a layer that shares its
// budget form one pool; every other cache is a pool by itself.
std::vector<BudgetPool> budget_pools(std::span<const LayerCache> caches);

// The number of units that decide together in a layer of `units_of_layer` units.
std::size_t units_in_pool(const Spec& spec, std::size_t units_of_layer);

}  // namespace kv
