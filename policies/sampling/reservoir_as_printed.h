// reservoir-as-printed: the reservoir as its paper's listing runs it. Kept because it is wrong.
//
// Each trim treats the middle as if it were the whole stream and samples it anew: the first k
// candidates are taken, candidate i >= k draws j uniform on {0, ..., i} and replaces sample j if
// j < k. Nothing remembers how many tokens there have been, so:
//
//   token by token   one of k + 1 goes each time; a token is there after its a-th decision with
//                    probability (k/(k+1))^a: geometric in age, half of it gone after 0.69 k
//   in bulk of m     one decision leaves k of k + m: the law depends on the chunk size
//
// Only a single bulk is uniform. The formulas of the same paper (policies/sampling/reservoir.h)
// are.
#pragma once

#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

std::unique_ptr<Policy> make_reservoir_as_printed();

PolicyEntry reservoir_as_printed_policy();

}  // namespace kv
