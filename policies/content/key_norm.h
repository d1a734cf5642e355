// key-norm: the token with the longest key goes.
//
// Short keys draw much attention in trained models, sinks above all. A token's score is the norm of
// its key before rotation (which keeps norms), the mean over the unit's kv-heads. Among equals the
// older goes.
//
// Source: Devoto, Zhao, Scardapane and Minervini, "A Simple and Effective L2 Norm-Based Strategy
// for KV Cache Compression", EMNLP 2024, arXiv:2406.11430; code NVIDIA/kvpress, KnormPress.
// Differs: there the prompt is compressed once; here a token is judged whenever one leaves the
// recent window, and the answer is the same in what order so ever they come.
// Cost: O(head_dim) time a token and O(middle) a decision; 8 bytes per resident.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_key_norm();

PolicyEntry key_norm_policy();

}  // namespace kv
