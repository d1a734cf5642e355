// keyformer: heavy hitters under noise; it evicts the token with the lowest sum of noisy attention.
//
// A token's score is the sum, over the queries that saw it, of softmax((logit + noise) / tau). The
// noise is drawn from the standard Gumbel distribution for every pair of a query and a token. tau
// is 1 for the first `prompt` queries, rises by `step` with each query that follows, and stops at
// `end`: the paper's rise from 1 to 2 over an answer of n tokens is step=1/n. The noise lets tokens
// compete that have had no attention yet, and the rising tau evens out the votes of later queries.
// The policy recovers the logits from the row: they are its logarithms, up to a constant that does
// not change the softmax. Among equal scores the older token is evicted.
//
// With noise=none and step=0 the policy is h2o. With select=once the first trim selects the tokens
// that are kept, and every token that leaves the recent window later is evicted at once. The
// authors' code does this too: its mask never shows a hidden token again, and it hides every token
// for the one step at which the token is neither recent nor a candidate.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

struct KeyformerOptions {
  bool noise = true;
  double step = 0.01;
  double end = 2;
  std::size_t prompt = 1;
  bool once = false;
};

// Requires step >= 0, end >= 1 and prompt >= 1.
std::unique_ptr<Policy> make_keyformer(const KeyformerOptions& options);

PolicyEntry keyformer_policy();

}  // namespace kv
