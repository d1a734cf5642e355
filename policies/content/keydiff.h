// keydiff: evicts the token whose key is most similar to the others.
//
// Keys are scaled to unit length. Their mean over all residents, sinks and recent tokens included,
// is the anchor. A token's score is the cosine between its key and the anchor, averaged over the
// unit's kv-heads. The token with the highest score is evicted, among equals the older.
//
// With scores=rotated, as published, keys are compared as caches store them, rotated to their
// positions. In a cache that closes gaps they are rotated to the ranks that they have before the
// eviction, so that evictions also change how similar two keys are. With scores=raw keys are
// compared before rotation, so that distance has no effect.
//
// The cosine of a key of length 0 is 0.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_keydiff(bool rotated);

PolicyEntry keydiff_policy();

}  // namespace kv
