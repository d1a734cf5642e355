// random: every newcomer enters, and an older token that is drawn uniformly is evicted.
//
// With k = the size of the middle, a token survives each later decision with probability (k - 1)/k.
// It is still there after `a` decisions with probability (1 - 1/k)^a: geometric in age, not
// uniform.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_random();

PolicyEntry random_policy();

}  // namespace kv
