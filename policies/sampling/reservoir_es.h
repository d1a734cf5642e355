// reservoir-es: a weighted random sample of all that left the recent window, by random keys.
//
// Each token draws a key ln(u) / weight when it first may go; the k largest stay. That is drawing
// without replacement, one after another, each time in proportion to the weights: heavy tokens are
// favoured, but inclusion is not in proportion to weight (policies/sampling/reservoir_chao.h is).
// With equal weights it is a uniform reservoir. A weight is fixed together with the key.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/parts/token_weights.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_es(Weight weight);

PolicyEntry reservoir_es_policy();

}  // namespace kv
