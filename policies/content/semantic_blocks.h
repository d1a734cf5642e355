// semantic-blocks: the middle in blocks; those least like what is asked now go, each as a whole.
//
// When the middle is over its capacity it is cut, oldest first, into blocks of `block` residents;
// the rest, fewer than a block and next to the recent tokens, stays. A block is scored by how like
// the mean of its keys is to the last query: the cosine (or inner product) of each query head with
// the kv-head that it reads, averaged. As many of the best blocks stay as fit, in stream order.
// Among equals the older goes. With scores=raw keys and queries are those before rotation, so that
// likeness is of content and not of distance; with scores=rotated, as published, they are turned by
// their positions first (in a cache that closes gaps, by ranks).
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires block >= 1.
std::unique_ptr<Policy> make_semantic_blocks(std::size_t block, bool cosine, bool rotated = false);

PolicyEntry semantic_blocks_policy();

}  // namespace kv
