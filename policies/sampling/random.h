// random: every newcomer enters, and a uniformly drawn older token makes room.
//
// With k = the middle's size, a token survives each later decision with probability (k - 1)/k, so
// its chance of being there after `a` of them is (1 - 1/k)^a: geometric in age, not uniform.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_random();

PolicyEntry random_policy();

}  // namespace kv
