// What results say of a condition or a hypothesis.
#pragma once

#include <string_view>

namespace kv::reports {

enum class Verdict {
  holds,
  in_part,    // of a hypothesis: some of its conditions hold, others do not
  fails,      // does not hold; of a hypothesis: nor does any of its conditions
  undecided,  // of numbers: the interval encloses a bound, or there are too few texts for one; of a
              // hypothesis: a condition is not decided, and none does not hold
};

// "holds", "holds in part", "does not hold" or "not decided".
std::string_view name_of(Verdict verdict);

}  // namespace kv::reports
