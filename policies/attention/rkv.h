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
// Source: Cai et al., "R-KV: Redundancy-aware KV Cache Compression for Reasoning Models", NeurIPS
// 2025, arXiv:2505.24133, lambda 0.1; code Zefan-Cai/R-KV, rkv/compression/r1_kv.py (lambda 0.07)
// and rkv/utils.py.
// Differs: keys are compared before rotation, there as they are stored. There a key that none is
// like spares the first resident instead of nobody. Query heads are averaged, in the code the
// largest of their logits is taken; what queries pay is shared out over all that they see, there
// over what is older than the window. The code compresses once 128 tokens are over (timing=lazy).
// Cost: O(residents * key) time a query and O(residents (key + window)) a trim, `key` being the
// numbers of a token's keys: all sums of cosines are one product with the sum of all unit keys.
// When a token goes, each resident whose newest look-alike it was looks for the next, O(residents *
// key): none or few as a rule, since the newest alike are spared, but all where all keys are alike.
// 4 window bytes, 4 bytes of each number of a key, 16 a kv-head and 8 per resident.
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
