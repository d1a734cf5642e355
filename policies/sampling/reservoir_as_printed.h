// reservoir-as-printed: the reservoir exactly as the listing in its paper computes it. The listing
// is wrong; the policy exists to show the difference.
//
// Each trim treats the middle as if it were the whole stream and samples it anew. It takes the
// first k candidates; then candidate i >= k draws j uniformly from {0, ..., i} and replaces sample
// j if j < k. The listing does not count earlier tokens, so:
//
//   token by token   one of k + 1 is evicted each time; a token survives its first a decisions
//                    with probability (k/(k+1))^a: geometric in age, one half after 0.69 k
//   in bulk of m     one decision leaves k of k + m: the distribution depends on the chunk size
//
// The sample is uniform only after a single bulk. The formulas of the same paper give a uniform
// sample in every case (policies/sampling/reservoir.h).
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_as_printed();

PolicyEntry reservoir_as_printed_policy();

}  // namespace kv
