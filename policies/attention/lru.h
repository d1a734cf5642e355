// lru: least recently used; the token that has gone longest without its share of attention goes.
//
// A query uses the tokens that it pays at least the mean, 1 / visible, and its own. Among tokens
// last used by the same query the older goes.
//
// Source: graphcore-research/llm-inference-research, llminference/methods/eviction_attention.py,
// the strategy "lru".
// Differs: mass is renormalised over what was visible and is the mean over the unit's heads. The
// mean is compared with a tolerance of 10^-4 of it, so that even attention uses every token however
// it was rounded. There the newest local_k are protected, here the recent window.
// Cost: O(residents) time a query; 8 bytes per resident.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_lru();

PolicyEntry lru_policy();

}  // namespace kv
