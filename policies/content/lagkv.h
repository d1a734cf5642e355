// lagkv: a token is measured against those that came after it; the plainest goes.
//
// The next `lag` tokens after a token are its reference: every channel of its key and of its value
// is placed between the least and the largest that the reference has there (0 to 1, and beyond).
// The token's score is the standard deviation of its placed channels, of keys and of values added,
// the mean over the unit's kv-heads. It is taken once, when the token first may go, from as many of
// the tokens after it as there are by then. The lowest goes, among equals the older.
//
// That is partitions=none. With the paper's partitions what follows the sinks is cut into pieces of
// `lag` tokens. A piece is scored once the next one, its reference, is complete: the deviations of
// its tokens go through a softmax over the piece, per head, of keys and of values.
//
//   ranked   a token's score is its place among the tokens of its piece, so that every piece keeps
//            the same share: the paper's selection within each partition, under a budget
//   scored   the softmaxes themselves are compared, over all pieces
//
// Who has no score yet stays while others can go, and goes oldest first. So a cache should hold
// three pieces: choose lag by the budget.
//
// A channel in which the reference does not vary says nothing.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

enum class LagPartitions { none, ranked, scored };

// Requires lag >= 1.
std::unique_ptr<Policy> make_lagkv(std::size_t lag, LagPartitions partitions = LagPartitions::none);

PolicyEntry lagkv_policy();

}  // namespace kv
