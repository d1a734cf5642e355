// lagkv: compares a token with the tokens that follow it and evicts the one that stands out least.
//
// The next `lag` tokens after a token are its reference. Every channel of the token's key and value
// is normalised by the range of the reference in that channel: its minimum becomes 0 and its
// maximum 1, and values outside the range lie beyond. The token's score is the standard deviation
// of its normalised channels, those of keys and of values added, averaged over the unit's kv-heads.
// The score is computed once, when the token first becomes a candidate, from as many of the
// following tokens as there are by then. The token with the lowest score is evicted, among equals
// the older.
//
// This is partitions=none. With the paper's partitions the stream after the sinks is cut into
// pieces of `lag` tokens. A piece is scored once the next piece, its reference, is complete: a
// softmax over the piece is taken of the deviations of its tokens, per head, for keys and for
// values.
//
//   ranked   a token's score is its rank among the tokens of its piece, so that every piece keeps
//            the same share: the paper's selection within each partition, under a budget
//   scored   the softmaxes themselves are compared, over all pieces
//
// A token without a score is kept while another candidate can be evicted; tokens without a score
// are evicted oldest first. A cache should therefore hold three pieces: select `lag` by the budget.
//
// With scores=rotated, as published, keys are compared as caches store them, rotated to their
// positions. In a cache that closes gaps they are rotated to the ranks that they have when the
// score is computed, and the score remains when ranks change later. With scores=raw keys are
// compared before rotation. Values are never rotated.
//
// A channel in which the reference does not vary adds nothing to the score.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

enum class LagPartitions { none, ranked, scored };

// Requires lag >= 1.
std::unique_ptr<Policy> make_lagkv(std::size_t lag, LagPartitions partitions, bool rotated);

PolicyEntry lagkv_policy();

}  // namespace kv
