// chunkkv: tokens stay or go in chunks; the chunks that the last queries attend to least go.
//
// When the middle is over its capacity it is cut, oldest first, into chunks of `length` residents.
// A chunk's score is the mass that the last `window` queries paid its tokens, summed and not
// pooled. As many of the best chunks stay as fit, in stream order; among equals the older goes.
// Since chunks leave whole, those that stay are runs of `length` tokens of the stream. The ragged
// rest, fewer than `length` tokens next to the recent ones, is a chunk that is still being filled:
// it stays, and is judged once it is whole. Only a capacity below `length` leaves no room for it:
// then its tokens are chosen one by one, as snapkv chooses without neighbours.
//
// Source: Liu et al., "ChunkKV: Semantic-Preserving KV Cache Compression for Efficient Long-Context
// LLM Inference", NeurIPS 2025, arXiv:2502.00299, algorithm 1, chunks of 10; code NVIDIA/kvpress,
// ChunkKVPress, chunks of 20.
// Differs: there the prompt is compressed once and the cache then grows; here the budget holds
// throughout. There the rest competes as a chunk: by its sum in the text, by its mean in the code,
// whose chunks to keep are a share of all, so that the tokens kept may miss it by a chunk less the
// rest. Heads of a unit are averaged, in the code summed over a layer, which ranks alike with
// unit=layer. Layers do not borrow each other's choice.
// Cost: O(residents) time a query; O(middle window) time a trim, one in `length` tokens once the
// middle is full; 4 window bytes per resident.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

// Requires length >= 1 and window >= 1.
std::unique_ptr<Policy> make_chunkkv(std::size_t length, std::size_t window);

PolicyEntry chunkkv_policy();

}  // namespace kv
