#include "kvcheck/sim/cache/budget_pool.h"

#include "kvcheck/base/check.h"
#include "kvcheck/sim/cache/pooled_scores.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {

void BudgetPool::add(UnitCache& cache) {
  KV_CHECK(caches_.empty() || (cache.shares() && shares()));
  caches_.push_back(&cache);
  if (cache.shares()) trims_.emplace_back(cache);
}

void BudgetPool::begin_chunk(std::size_t tokens) {
  if (!shares()) return caches_.front()->begin_chunk(tokens);
  for (UnitCache::Trim& trim : trims_) trim.release_for_chunk(tokens);
  decide();
  for (UnitCache::Trim& trim : trims_) trim.store(tokens);
}

void BudgetPool::before_query() {
  if (!shares() || !trims_.front().decides_before_query()) return;
  for (UnitCache::Trim& trim : trims_) trim.release_for_query();
  decide();
}

void BudgetPool::end_chunk() {
  if (!shares()) return caches_.front()->end_chunk();
  // The sum over all units: one unit may be above the budget while the layer is not.
  std::int64_t over = 0;
  for (const UnitCache::Trim& trim : trims_) over += trim.over_budget();
  if (over <= 0) return;
  for (UnitCache::Trim& trim : trims_) trim.release_at_end();
  decide();
  for (UnitCache::Trim& trim : trims_) trim.free_rows();
}

void BudgetPool::decide() {
  const std::size_t mean = trims_.front().capacity();
  std::size_t all = 0;
  for (const UnitCache::Trim& trim : trims_) all += trim.middle().size();
  if (all <= mean * trims_.size()) return;
  std::vector<PooledUnit> pool;
  for (UnitCache::Trim& trim : trims_) pool.push_back({trim.scores(), trim.middle()});
  // All scores are read before any token is evicted: evictions change the views of scores.
  auto victims = lowest_of_pool(pool, mean, trims_.front().floor());
  for (std::size_t i = 0; i < trims_.size(); ++i) trims_[i].drop(std::move(victims[i]));
}

std::vector<BudgetPool> budget_pools(std::span<const LayerCache> caches) {
  std::vector<BudgetPool> pools;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const auto [layer, cache] = caches[i];
    const bool joins = i > 0 && cache->shares() && caches[i - 1].layer == layer;
    if (!joins) pools.emplace_back();
    pools.back().add(*cache);
  }
  return pools;
}

std::size_t units_in_pool(const Spec& spec, std::size_t units_of_layer) {
  return spec.budgets.shared() ? units_of_layer : 1;
}

}  // namespace kv
