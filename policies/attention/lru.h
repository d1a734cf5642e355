// lru: least recently used; the token that has gone longest without its share of attention goes.
//
// A query uses the tokens that it pays at least the mean, 1 / visible, and its own. Among tokens
// last used by the same query the older goes.
//
// The mean is compared with a tolerance of 10^-4 of it, so that even attention uses every token
// however it was rounded.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_lru();

PolicyEntry lru_policy();

}  // namespace kv
