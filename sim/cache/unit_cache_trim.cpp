// The steps of a trim that caches with a shared budget take together.
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {

UnitCache::Trim::Trim(UnitCache& cache) : cache_(&cache) {
  KV_CHECK(cache.shares());
}

void UnitCache::Trim::release_at_end() {
  cache_->release_all_but(cache_->rules_.recent, cache_->state_.seen);
}

void UnitCache::Trim::drop(std::vector<std::size_t> victims) {
  cache_->scratch_.victims = std::move(victims);
  cache_->drop_victims();
}

}  // namespace kv
