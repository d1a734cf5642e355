// keydiff: the token whose key is most like the others goes.
//
// Keys are made unit vectors; their mean over all residents, sinks and recent tokens among them, is
// the anchor. A token's score is the cosine between its key and the anchor, the mean over the
// unit's kv-heads; the highest goes, among equals the older.
//
// Source: Park et al., "KeyDiff: Key Similarity-Based KV Cache Eviction for Long-Context LLM
// Inference in Resource-Constrained Environments", arXiv:2504.15364; code NVIDIA/kvpress,
// KeyDiffPress.
// Differs: keys are compared before rotation, there as the cache stores them. A key of length 0 is
// like nothing.
// Cost: O(residents * key) time a trim, `key` being the numbers of a token's keys; 4 bytes of each
// per resident.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_keydiff();

PolicyEntry keydiff_policy();

}  // namespace kv
