// How large tokens' values are in the output of attention, for policies that ask for it.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/threads/team.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// The 1-norm of what the layer's output projection makes of each token's value, as each query head
// would add it if it paid all attention to the token: norms [tokens, heads], resized. `v` is
// [tokens, kv_heads * head_dim]. A bias, and norms after the projection, do not count. Sums are in
// double and the same on every machine, for any number of threads. Cost: that of the output
// projection, and each thread widens the whole matrix.
void output_norms(const LanguageModel& model,
                  std::size_t layer,
                  std::size_t tokens,
                  const float* v,
                  std::vector<float>& norms,
                  Team& team);

}  // namespace kv::model
