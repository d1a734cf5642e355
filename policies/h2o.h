// h2o: a token is worth the attention it has gathered since it arrived; the lowest goes.
//
// Its score is the sum of its mass over the queries that saw it, its own included. Half of the
// budget is the recent window by default, the other half the heavy hitters. Among equal scores the
// older goes.
//
// The sum favours the old: under even attention the i-th of n tokens has gathered H_n - H_(i-1), so
// newcomers never displace anyone. normalise=age divides by the number of queries that saw the
// token, and they can.
//
// Source: Zhang et al., "H2O: Heavy-Hitter Oracle for Efficient Generative Inference of Large
// Language Models", NeurIPS 2023, arXiv:2306.14048, algorithm 1; code FMInference/H2O,
// h2o_hf/utils_real_drop/modify_llama.py. Division by age: NVIDIA/kvpress, ObservedAttentionPress.
// Differs: mass is renormalised over what was visible, as a running cache's softmax is, and is the
// mean over the unit's heads. Sums are kept in double (see below). Ties are decided; there they
// fall as torch.topk lets them.
// Cost: O(residents) time a query; one double per resident, three with normalise=age.
//
// Why double: after 10^5 queries a heavy token's sum is near 10^4, where a float's steps are 10^-3
// and most of what a query adds is lost; a double is still exact to 10^-12.
#pragma once

#include <memory>

#include "policies/entry.h"

namespace kv {

enum class Normalise { none, age };

std::unique_ptr<Policy> make_h2o(Normalise normalise);

PolicyEntry h2o_policy();

}  // namespace kv
