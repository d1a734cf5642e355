// semantic-blocks: cuts the middle into blocks and evicts whole blocks, those least similar to the
// last query.
//
// When the middle is over its capacity, it is cut into blocks of `block` residents, from the oldest
// on. Tokens that are left over next to the recent tokens, fewer than a block, are kept. A block's
// score is the similarity of the mean of its keys to the last query: the cosine (or inner product)
// of each query head with the kv-head that it reads, averaged. The best blocks are kept, as many as
// fit, in stream order. Among equal scores the older block is evicted. With scores=raw the keys and
// queries are those before rotation, so that the similarity is of content and not of distance. With
// scores=rotated, as published, they are first rotated to their positions (to their ranks in a
// cache that closes gaps).
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires block >= 1.
std::unique_ptr<Policy> make_semantic_blocks(std::size_t block, bool cosine, bool rotated = false);

PolicyEntry semantic_blocks_policy();

}  // namespace kv
