// The caches whose units share one budget, and that therefore decide together: those of one layer
// under budgets=adaptive. Any other cache is a pool of one.
//
// Only the moment of a decision differs from that of a cache alone. All caches of the pool first
// release what their timing says; then the lowest scores of all middles together are evicted
// (sim/cache/pooled_scores.h); then rows are freed. After that each is a cache like any other, with
// a middle of its own size. Nothing is shared between decisions, so a pool has no state: it may be
// made anew whenever caches have moved.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {

class BudgetPool {
 public:
  // The caches outlive the pool and do not move. Those of one layer, in the order of their heads,
  // if the cache shares; else one. Requires that all were made of one spec.
  void add(UnitCache& cache);

  // UnitCache::begin_chunk of all.
  void begin_chunk(std::size_t tokens);

  // Before next_query of each: where every query has a window of its own, decides for the next.
  void before_query();

  // UnitCache::end_chunk of all.
  void end_chunk();

 private:
  [[nodiscard]] bool shares() const { return !trims_.empty(); }

  // Evicts the lowest scores of all middles once they hold more than their capacities together.
  void decide();

  std::vector<UnitCache*> caches_;
  std::vector<UnitCache::Trim> trims_;  // one per cache, where they share
};

// A cache and its unit's layer.
struct LayerCache {
  std::size_t layer = 0;
  UnitCache* cache = nullptr;
};

// The pools of these caches, which come layer by layer: the caches of a layer that shares its
// budget are one pool, and every other cache is one by itself.
std::vector<BudgetPool> budget_pools(std::span<const LayerCache> caches);

// How many units decide together in a layer that has so many.
std::size_t units_in_pool(const Spec& spec, std::size_t units_of_layer);

}  // namespace kv
