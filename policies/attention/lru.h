// lru: least recently used; evicts the token that least recently received its share of
// attention.
//
// A query uses its own token and every token that it pays at least the mean, 1 / visible. Among
// tokens that the same query used last, the older is evicted.
//
// The comparison with the mean has a relative tolerance of 10^-4, so that even attention uses every
// token despite rounding.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_lru();

PolicyEntry lru_policy();

}  // namespace kv
