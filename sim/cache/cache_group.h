// Caches that decide together: those of a layer that shares its budget, or any other cache alone.
//
// What differs from one cache is only when decisions fall. All caches of the group first release
// what their timing says; then the lowest of all middles go (sim/cache/pooled_scores.h); then rows
// are freed. Each is then a cache like any other, with a middle of its own size. Between decisions
// nothing is shared, so a group has no state: it may be made anew whenever caches have moved.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {

class CacheGroup {
 public:
  // The caches outlive the group and do not move. Those of one layer, in the order of their heads,
  // if the cache shares; else one. Requires that all were made of one spec.
  void add(UnitCache& cache);

  // UnitCache::begin_chunk of all.
  void begin_chunk(std::size_t tokens);

  // Before next_query of each: where every query has a window of its own, decides for the next.
  void before_query();

  // UnitCache::end_chunk of all.
  void end_chunk();

  [[nodiscard]] const std::vector<UnitCache*>& caches() const { return caches_; }

 private:
  void decide();

  std::vector<UnitCache*> caches_;
};

// A cache and its unit's layer.
struct LayerCache {
  std::size_t layer = 0;
  UnitCache* cache = nullptr;
};

// The groups of these caches, which come layer by layer: those of a layer that share its budget are
// one, and every other cache is one by itself.
std::vector<CacheGroup> grouped(std::span<const LayerCache> caches);

// How many units of a layer decide together, where it has so many.
std::size_t units_in_group(const Spec& spec, std::size_t units_of_layer);

}  // namespace kv
