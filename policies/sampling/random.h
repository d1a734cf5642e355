// random: every newcomer enters, and a uniformly drawn older token makes room.
//
// With k = the middle's size, a token survives each later decision with probability (k - 1)/k, so
// its chance of being there after `a` of them is (1 - 1/k)^a: geometric in age, not uniform.
//
// Source: AnswerDotAI/cold-compress, cache.py, class KVCacheRandom.
// Differs: sinks and recent tokens are the cache's to protect, and draws are keyed by the
// newcomer's position instead of coming from one global generator.
// Cost: O(1) time and one draw a token; no state.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_random();

PolicyEntry random_policy();

}  // namespace kv
