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
//
// Source: Adnan et al., "Keyformer: KV Cache Reduction through Key Tokens Selection for Efficient
// Generative Inference", MLSys 2024, arXiv:2403.09054, section 3.3; code
// d-matrix-ai/keyformer-llm, models/gptj-keyformer-lib/modeling_gptj.py.
// Differs: by default a token of the answer may become a key token, as the text says; in that code
// none can. There the token that has just left the recent window at the end of the prompt is hidden
// for good too, here it is ranked. Its noise is not seeded; here it is keyed by the query and the
// token. Heads of a unit are averaged before the noise. The budget is the cache's: there it is 60 %
// of the prompt, 30 % of that recent. A cache does not know where a prompt ends: without prompt=
// tau rises from the second query on. The code's tau has no end.
// Cost: O(residents) time and draws a query; 12 bytes per resident.
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
