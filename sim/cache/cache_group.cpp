#include "kvcheck/sim/cache/cache_group.h"

#include "kvcheck/base/check.h"
#include "kvcheck/sim/cache/pooled_scores.h"

namespace kv {

void CacheGroup::add(UnitCache& cache) {
  KV_CHECK(caches_.empty() || (cache.shares() && caches_.front()->shares()));
  caches_.push_back(&cache);
}

void CacheGroup::begin_chunk(std::size_t tokens) {
  if (!caches_.front()->shares()) return caches_.front()->begin_chunk(tokens);
  for (UnitCache* cache : caches_) cache->make_room(tokens);
  decide();
  for (UnitCache* cache : caches_) cache->store(tokens);
}

void CacheGroup::before_query() {
  const UnitCache& first = *caches_.front();
  if (!first.shares() || first.visibility_ == Visibility::causal) return;
  for (UnitCache* cache : caches_) cache->release_for_query();
  decide();
}

void CacheGroup::end_chunk() {
  if (!caches_.front()->shares()) return caches_.front()->end_chunk();
  std::int64_t over = 0;
  for (const UnitCache* cache : caches_) over += cache->over_budget();
  if (over <= 0) return;
  for (UnitCache* cache : caches_) cache->release_all_but(cache->recent_, cache->seen_);
  decide();
  for (UnitCache* cache : caches_) cache->free_rows();
}

void CacheGroup::decide() {
  const std::size_t mean = caches_.front()->capacity_;
  std::size_t all = 0;
  for (const UnitCache* cache : caches_) all += cache->middle_.size();
  if (all <= mean * caches_.size()) return;
  std::vector<PooledUnit> pool;
  for (UnitCache* cache : caches_) pool.push_back({cache->scores_of_middle(), cache->middle_});
  auto going = lowest_of_pool(pool, mean, caches_.front()->floor_);
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    caches_[i]->victims_ = std::move(going[i]);
    caches_[i]->drop_victims();
  }
}

std::vector<CacheGroup> grouped(std::span<const LayerCache> caches) {
  std::vector<CacheGroup> groups;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const auto [layer, cache] = caches[i];
    const bool joins = i > 0 && cache->shares() && caches[i - 1].layer == layer;
    if (!joins) groups.emplace_back();
    groups.back().add(*cache);
  }
  return groups;
}

std::size_t units_in_group(const Spec& spec, std::size_t units_of_layer) {
  return spec.budgets.shared() ? units_of_layer : 1;
}

}  // namespace kv
