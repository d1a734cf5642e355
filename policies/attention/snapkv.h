// snapkv: the last queries vote for tokens and for their neighbours; it evicts the tokens with the
// fewest votes.
//
// A token's votes are the mass that the last `window` queries paid it. They are pooled over
// `kernel` neighbours in the middle (by the mean or the maximum), so that a token is kept together
// with the tokens around it. With select=always every trim uses the current window. With
// select=once the first trim selects the tokens that are kept for good, as after a prompt, and
// every token that leaves the recent window later is evicted at once. Among equal votes the older
// token is evicted.
//
// Pooling stops at the ends of the middle. The mean counts zeros beyond them, as in the authors'
// code.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

struct SnapkvOptions {
  std::size_t window = 32;  // >= 1
  std::size_t kernel = 7;   // odd
  bool largest = true;      // pool by the maximum; otherwise by the mean
  bool once = false;        // only the first trim selects
};

std::unique_ptr<Policy> make_snapkv(const SnapkvOptions& options);

PolicyEntry snapkv_policy();

}  // namespace kv
