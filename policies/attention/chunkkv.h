// chunkkv: tokens stay or go in chunks; the chunks that the last queries attend to least go.
//
// When the middle is over its capacity it is cut, oldest first, into chunks of `length` residents.
// A chunk's score is the mass that the last `window` queries paid its tokens, summed and not
// pooled. As many of the best chunks stay as fit, in stream order; among equals the older goes.
// Since chunks leave whole, those that stay are runs of `length` tokens of the stream. The ragged
// rest, fewer than `length` tokens next to the recent ones, is a chunk that is still being filled:
// it stays, and is judged once it is whole. Only a capacity below `length` leaves no room for it:
// then its tokens are chosen one by one, as snapkv chooses without neighbours.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires length >= 1 and window >= 1.
std::unique_ptr<Policy> make_chunkkv(std::size_t length, std::size_t window);

PolicyEntry chunkkv_policy();

}  // namespace kv
