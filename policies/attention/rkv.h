// rkv: evicts tokens whose keys repeat those of newer tokens, unless the last queries attend to
// them.
//
// A token's score is lambda * importance - (1 - lambda) * redundancy. Importance is the mean mass
// that the last `window` queries paid the token, or the largest such mean among `kernel` neighbours
// in the middle. Redundancy is the softmax, over all residents, of the token's mean cosine with the
// keys of the others. For each key, the newest token whose cosine with it is above `threshold` is
// exempt: this cosine is left out of the exempt token's mean. Two similar tokens are
// therefore both exempt; of three, only the oldest is charged in full and the newest never is. The
// token with the lowest score is evicted, among equals the older. Redundancy is computed for each
// kv-head and averaged over the unit's kv-heads. The authors' code differs from the paper in two
// points, which are options: masses are shares of what a query paid to the middle
// (importance=middle), and a key without a similar one exempts the first resident (lone=first).
//
// With scores=rotated, as published, keys are compared as caches store them, rotated to their
// positions. In a cache that closes gaps they are rotated to the ranks that they have before the
// eviction; since these change, similar tokens are found anew at every trim. With scores=raw keys
// are compared before rotation.
//
// One product with the sum of all unit keys gives all sums of cosines. When a token is evicted,
// each resident whose newest similar token it was searches for the next one. Usually few residents
// have to, because the newest similar tokens are exempt. If all keys are similar, all have to.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

struct RkvOptions {
  std::size_t window = 8;  // >= 1
  std::size_t kernel = 7;  // odd
  double lambda = 0.1;     // in [0, 1]
  double threshold = 0.5;  // in [0, 1]
  bool of_middle = false;
  bool exempts_first = false;
  bool rotated = true;
};

std::unique_ptr<Policy> make_rkv(const RkvOptions& options);

PolicyEntry rkv_policy();

}  // namespace kv
