// reservoir-chao: a random sample in which a token's probability is proportional to its weight.
//
// After M tokens with weights w, with room for k, each token is in the middle with probability
// min(1, c w), where c makes these probabilities sum to k. A token whose share would be above 1 is
// overweight and is kept with certainty. A newcomer enters with its own probability, and then one
// older token is evicted. A token that has just stopped being overweight is evicted with the
// probability by which its share fell. The remaining probability is shared evenly by the tokens
// that were not overweight before. With equal weights the policy is a uniform reservoir. A token's
// weight is fixed when the token first becomes a candidate.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/parts/token_weights.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_chao(Weight weight);

PolicyEntry reservoir_chao_policy();

}  // namespace kv
