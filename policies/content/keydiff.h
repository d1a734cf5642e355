// keydiff: evicts the token whose key is most similar to the others.
//
// Keys are scaled to unit length. Their mean over all residents, sinks and recent tokens included,
// is the anchor. A token's score is the cosine between its key and the anchor, averaged over the
// unit's kv-heads. The token with the highest score is evicted, among equals the older.
//
// The cosine of a key of length 0 is 0.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_keydiff();

PolicyEntry keydiff_policy();

}  // namespace kv
