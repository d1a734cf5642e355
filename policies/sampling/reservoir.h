// reservoir: a uniform random sample of all tokens that ever left the recent window.
//
// With M tokens entered so far and room for k, each of the M is in the middle with probability k/M,
// and each set of k is as likely as any other. Three algorithms have this distribution:
//
//   r         Algorithm R in the words of the method's formulas. The newcomer enters with
//             p = sample_size / (total_num - start_size - recent_size) = k/M, where total_num
//             counts the token being processed; then each old sample is replaced with q = 1/k.
//   l         Algorithm L: draws how many newcomers to refuse until the next one enters.
//   bottom-k  gives every token a random key; the tokens with the k smallest keys are kept.
//
// They draw differently, so for one seed they keep different samples.
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
