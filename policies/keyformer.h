// keyformer: heavy hitters under noise; the lowest sum of noisy attention goes.
//
// A token's score is the sum, over the queries that saw it, of softmax((logit + noise) / tau),
// where noise is drawn from the standard Gumbel distribution for every pair of a query and a token,
// and tau = 1 + step * (queries so far). The noise keeps tokens in play that have had no attention
// yet, the rising tau evens out what later queries say. Logits are taken back from the row: they
// are its logarithms, up to a constant that the softmax does not see. Among equals the older goes.
//
// With noise=none and step=0 it is h2o.
//
// Source: Adnan et al., "Keyformer: KV Cache Reduction through Key Tokens Selection for Efficient
// Generative Inference", MLSys 2024, arXiv:2403.09054, section 3.3; code
// d-matrix-ai/keyformer-llm, models/gptj-keyformer-lib/modeling_gptj.py.
// Differs: that code's mask keeps every token of the answer from ever becoming a key token, which
// the text does not say and is left out. Its noise is not seeded; here it is keyed by the query and
// the token. Heads of a unit are averaged before the noise. The budget is the cache's: there it is
// 60 % of the prompt. A cache does not know where a prompt ends, so tau rises with every query and
// without end, there with every generated token: choose the step by the length of the stream.
// Cost: O(residents) time and draws a query; 12 bytes per resident.
#pragma once

#include <memory>

#include "policies/entry.h"

namespace kv {

// Requires step >= 0.
std::unique_ptr<Policy> make_keyformer(bool noise, double step);

PolicyEntry keyformer_policy();

}  // namespace kv
