// reservoir-chao: a random sample in which a token's chance is in proportion to its weight.
//
// After M tokens of weights w, with room for k, each is in the middle with probability
// min(1, c w), where c makes these sum to k. A token whose share would be above 1 is overweight and
// stays for sure. A newcomer enters with its probability; then whoever has just stopped being
// overweight goes with what its probability fell by, and the rest of the chance is shared evenly by
// those that were not overweight before. With equal weights it is a uniform reservoir. A weight is
// fixed when its token first may go.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/parts/token_weights.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_chao(Weight weight);

PolicyEntry reservoir_chao_policy();

}  // namespace kv
