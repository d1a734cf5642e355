// reservoir-es: a weighted random sample of all that left the recent window, by random keys.
//
// Each token draws a key ln(u) / weight when it first may go; the k largest stay. That is drawing
// without replacement, one after another, each time in proportion to the weights: heavy tokens are
// favoured, but inclusion is not in proportion to weight (policies/sampling/reservoir_chao.h is).
// With equal weights it is a uniform reservoir. A weight is fixed together with the key.
//
// Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir", Information
// Processing Letters 97(5), 2006, algorithm A-ES, there with the keys u^(1/weight), whose logarithm
// cannot run out of range. Nobody seems to have used it for a cache.
// Differs: nothing but that logarithm.
// Cost: O(k) time and one draw a token, and O(residents) a query for weight=attention; 8 bytes per
// middle token, and 8 (attention: 16) per resident.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/parts/token_weights.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_es(Weight weight);

PolicyEntry reservoir_es_policy();

}  // namespace kv
