// A decision of a policy with what it was made by, as far as the policy reports that.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// A candidate and its score, which is NaN if the policy has none.
struct ScoredPosition {
  Position position = 0;
  double score = 0;
};

// A trim may consist of several decisions. Tokens that leave without one, because there is no
// middle, have none.
struct Decision {
  Position seen = 0;                    // tokens seen, as in Residency::evicted_at
  std::size_t candidates = 0;           // tokens of the middle, the victims included
  std::vector<ScoredPosition> victims;  // by position
  // The up to 8 candidates with the lowest scores that remain, the lowest first; empty if the
  // policy does not report scores that compare (Policy::scores_compare).
  std::vector<ScoredPosition> next;
};

}  // namespace kv
