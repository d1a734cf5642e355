// criticalkv: selects in two stages, first by attention, then by attention times the size of the
// value.
//
// A token's attention is the mean mass that the last `window` queries paid it, or the largest such
// mean among `kernel` neighbours in the middle, as in snapkv. The first stage keeps the tokens with
// the most attention, as many as the share `first` of the capacity, rounded down. The second stage
// fills the rest with the largest products of (attention + 10^-4) and the size of the value. That
// is its 1-norm after the output projection, averaged over the unit's query heads. Where there is
// no such matrix, it is the value's own 1-norm, averaged over the kv-heads. What is dropped changes
// the output of attention by at most about the sum of such products; the first stage ensures that
// most attention is kept, which the bound assumes. Among equals the older token is evicted.
#pragma once

#include <cstddef>
#include <memory>

#include "kvcheck/policies/entry.h"

namespace kv {

struct CriticalkvOptions {
  std::size_t window = 32;  // >= 1
  std::size_t kernel = 7;   // odd
  double first = 0.5;       // in [0, 1]
};

std::unique_ptr<Policy> make_criticalkv(const CriticalkvOptions& options);

PolicyEntry criticalkv_policy();

}  // namespace kv
