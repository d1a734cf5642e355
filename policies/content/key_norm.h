// key-norm: evicts the token with the longest key.
//
// In trained models short keys draw much attention, above all those of the sinks. A token's score
// is the norm of its key, averaged over the unit's kv-heads. The key is taken before rotation,
// which does not change norms. Among equal scores the older token is evicted.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_key_norm();

PolicyEntry key_norm_policy();

}  // namespace kv
