// key-norm: the token with the longest key goes.
//
// Short keys draw much attention in trained models, sinks above all. A token's score is the norm of
// its key before rotation (which keeps norms), the mean over the unit's kv-heads. Among equals the
// older goes.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_key_norm();

PolicyEntry key_norm_policy();

}  // namespace kv
