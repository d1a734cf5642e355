// reservoir: a uniform random sample of everything that ever left the recent window.
//
// With M tokens entered so far and room for k, each of the M is in the middle with probability k/M
// and each set of k is as likely as any other. Three algorithms have this one law:
//
//   r         Algorithm R in the words of the method's formulas. The newcomer enters with
//             p = sample_size / (total_num - start_size - recent_size) = k/M, total_num counting
//             the token being processed; then each old sample is replaced with q = 1/k.
//   l         Algorithm L: draws how many newcomers to refuse until the next one enters.
//   bottom-k  every token has a random key of its own; the k smallest stay.
//
// They draw differently, so for one seed they keep different samples.
//
// Source: Pan, Weng, Huang, Pan and Zhao, "An Experiment of Implementing Reservoir Sampling to
// StreamingLLM", section 4, formulas (1) and (2), figure 4. Algorithm R: Vitter, "Random Sampling
// with a Reservoir", ACM TOMS 11(1), 1985, section 2 (credited there to A. Waterman). Algorithm L:
// Li, "Reservoir-Sampling Algorithms of Time Complexity O(n(1 + log(N/n)))", ACM TOMS 20(4), 1994.
// Bottom-k: Cohen and Kaplan, "Summarizing Data Using Bottom-k Sketches", PODC 2007.
// Differs: every unit draws its own sample; the method's code draws one for all layers and heads.
// Where p would exceed 1 (the middle not yet full) the token stays without a draw.
// Cost: r: O(1) time, one draw a token and one more when it enters; no state. l: O(1) time, three
// draws for each token that enters, k ln(M/k) of them; 16 bytes. bottom-k: one draw a token, O(k)
// time when it enters; 8 bytes per middle token.
#pragma once

#include <memory>
#include <string_view>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_r();
std::unique_ptr<Policy> make_reservoir_l();
std::unique_ptr<Policy> make_reservoir_bottom_k();

// By the word of the parameter `algorithm`: r, l or bottom-k.
std::unique_ptr<Policy> make_reservoir(std::string_view algorithm);

PolicyEntry reservoir_policy();

}  // namespace kv
