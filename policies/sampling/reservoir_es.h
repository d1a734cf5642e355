// reservoir-es: a weighted random sample of all tokens that left the recent window, by random keys.
//
// Each token draws a key ln(u) / weight when it first becomes a candidate, and the tokens with the
// k largest keys are kept. This is sampling without replacement: tokens are drawn one after
// another, each in proportion to its weight. Heavy tokens are favoured, but the probability of
// inclusion is not proportional to the weight (in policies/sampling/reservoir_chao.h it is). With
// equal weights the policy is a uniform reservoir. A token's weight is fixed together with its key.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/parts/token_weights.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_es(Weight weight);

PolicyEntry reservoir_es_policy();

}  // namespace kv
