// keyformer: heavy hitters under noise; the lowest sum of noisy attention goes.
//
// A token's score is the sum, over the queries that saw it, of softmax((logit + noise) / tau),
// where noise is drawn from the standard Gumbel distribution for every pair of a query and a token.
// tau is 1 for the first `prompt` queries, rises by `step` with each that follows, and stops at
// `end`: the paper's rise from 1 to 2 over an answer of n tokens is step=1/n. The noise keeps
// tokens in play that have had no attention yet, the rising tau evens out what later queries say.
// Logits are taken back from the row: they are its logarithms, up to a constant that the softmax
// does not see. Among equals the older goes.
//
// With noise=none and step=0 it is h2o. With select=once the first trim chooses, and who leaves the
// recent window after it goes: what the authors' code does, whose mask keeps what it has hidden and
// hides every token for the one step at which it is neither recent nor a candidate.
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
