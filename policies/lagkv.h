// lagkv: a token is measured against those that came after it; the plainest goes.
//
// The next `lag` tokens after a token are its reference: every channel of its key and of its value
// is placed between the least and the largest that the reference has there (0 to 1, and beyond).
// The token's score is the standard deviation of its placed channels, of keys and of values added,
// the mean over the unit's kv-heads. It is taken once, when the token first may go, from as many of
// the tokens after it as there are by then. The lowest goes, among equals the older.
//
// Source: "LagKV: Lag-Relative Information of the KV Cache Tells Which
// Tokens Are Important", arXiv:2504.04704; code NVIDIA/kvpress, LagKVPress.
// Differs: there the text is cut into partitions of `lag` tokens, each measured against the next
// one and thinned alone, and scores are a softmax over their partition; here every token has a
// reference of its own and the middle is thinned as a whole. Keys are those before rotation. A
// channel in which the reference does not vary says nothing.
// Cost: O(lag * width) time a token, `width` being the numbers of its keys and values; 8 bytes, and
// 4 for each of these numbers, per resident.
#pragma once

#include <cstddef>
#include <memory>

#include "policies/entry.h"

namespace kv {

// Requires lag >= 1.
std::unique_ptr<Policy> make_lagkv(std::size_t lag);

PolicyEntry lagkv_policy();

}  // namespace kv
