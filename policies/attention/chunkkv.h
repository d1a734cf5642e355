// chunkkv: keeps or evicts tokens in chunks; it evicts the chunks that the last queries attend to
// least.
//
// When the middle is over its capacity, it is cut into chunks of `length` residents, from the
// oldest on. A chunk's score is the mass that the last `window` queries paid its tokens, summed and
// not pooled. The best chunks are kept, as many as fit, in stream order; among equal scores the
// older chunk is evicted. Since chunks are evicted whole, the remaining ones are runs of `length`
// tokens of the stream. Fewer than `length` tokens may be left over next to the recent tokens. They
// are a chunk that is still being filled: they are kept, and scored once the chunk is whole. Only a
// capacity below `length` leaves no room for a chunk. Tokens are then selected one by one, as in
// snapkv without neighbours.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires length >= 1 and window >= 1.
std::unique_ptr<Policy> make_chunkkv(std::size_t length, std::size_t window);

PolicyEntry chunkkv_policy();

}  // namespace kv
