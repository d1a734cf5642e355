// rkv: what repeats what newer tokens say goes, unless the last queries attend to it.
//
// A token's score is lambda * importance - (1 - lambda) * redundancy. Importance is the mean mass
// that the last `window` queries paid it, and the largest of that over `kernel` neighbours in the
// middle. Redundancy is the softmax, over all residents, of a token's mean cosine with the keys of
// the others; but the newest token whose cosine with a key is above `threshold` is not charged for
// that key: of two tokens alike neither goes for it, of three the oldest first, the newest never.
// The lowest score goes; among equals the older. Redundancy is told head by head and averaged over
// the unit's kv-heads.
//
// All sums of cosines are one product with the sum of all unit keys. When a token is evicted, each
// resident whose newest look-alike it was looks for the next: none or few as a rule, since the
// newest alike are spared, but all where all keys are alike.
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
};

std::unique_ptr<Policy> make_rkv(const RkvOptions& options);

PolicyEntry rkv_policy();

}  // namespace kv
