// snapkv: the last queries vote, each token votes for its neighbours too, and the fewest votes go.
//
// A token's votes are the mass that the last `window` queries paid it. They are pooled over
// `kernel` neighbours in the middle (the mean, or the largest), so that a token stays together with
// those around it. With select=always every trim asks the window anew; with select=once the first
// trim chooses who stays for good, as after a prompt, and whoever leaves the recent window later
// goes at once. Among equal votes the older goes.
//
// Pooling ends at the ends of the middle, where the mean counts zeros, as the authors' code does.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

struct SnapkvOptions {
  std::size_t window = 32;  // >= 1
  std::size_t kernel = 7;   // odd
  bool largest = true;      // of the neighbours' votes; else their mean
  bool once = false;        // the first trim decides for good
};

std::unique_ptr<Policy> make_snapkv(const SnapkvOptions& options);

PolicyEntry snapkv_policy();

}  // namespace kv
