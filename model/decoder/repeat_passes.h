// The passes by which a model repeats its prompt. Each reads a request, the tokens before a part of
// the prompt, and the part itself, and sees all rows that were stored when the prompt was read. Its
// own rows are removed after it.
//
// Source: Kim et al., "KVzip: Query-Agnostic KV Cache Compression with Context Reconstruction",
// arXiv:2505.23416, section 3; the differences stand in the entry of the policy `kvzip`
// (policies/attention/kvzip.cpp). Cost: one more reading of the prompt, and of the request in each
// pass.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/attention/chunk_observations.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::model {

struct RepeatPass {
  RepeatedRows rows;
  std::vector<TokenId> tokens;
};

// The passes over a prompt in parts of `length` tokens, in stream order. The first `sinks` tokens
// are repeated by none. Requires length >= 1.
std::vector<RepeatPass> repeat_passes(std::span<const TokenId> prompt,
                                      std::size_t sinks,
                                      std::size_t length,
                                      std::span<const TokenId> request);

// An error if the spec's policy needs passes, and its cache does not trim exactly once, after a
// prompt.
Result<void> check_repeats(const Spec& spec);

}  // namespace kv::model
