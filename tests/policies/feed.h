// Feeds tokens to one policy, each with its inputs.
#pragma once

#include <initializer_list>
#include <vector>

#include "kvcheck/policies/policy.h"
#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {

// Feeds one token and trims the cache after it.
inline void feed(MiniCache& cache, Policy& policy, Draws& draws, Observation shown) {
  cache.append();
  shown.query = cache.seen - 1;
  shown.draws = &draws;
  policy.observe(shown);
  cache.trim(policy, draws, policy.leaving());
}

inline void feed_row(MiniCache& cache,
                     Policy& policy,
                     Draws& draws,
                     const std::vector<float>& row) {
  feed(cache, policy, draws, {.mass = row});
}

// The vectors of one head.
struct OneHead {
  std::vector<float> key = {};
  std::vector<float> value = {};
  std::vector<float> query = {};
};

inline void feed_head(MiniCache& cache, Policy& policy, Draws& draws, const OneHead& head) {
  feed(cache, policy, draws,
       {.keys = {head.key, head.key.size()},
        .values = {head.value, head.value.size()},
        .queries = {head.query, head.query.size()}});
}

}  // namespace kv
