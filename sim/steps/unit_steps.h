// One unit of one cell, step by step: what a replay computes on its way and does not keep.
#pragma once

#include <cstddef>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/sim/cache/slots.h"
#include "kvcheck/sim/replay/metrics.h"
#include "kvcheck/sim/steps/decision.h"

namespace kv {

struct Cell;
class Trace;

struct UnitSteps {
  Residency residency;          // the same that the replay records
  std::vector<Slot> slots;      // [tokens]: where each position is stored until it is evicted
  std::vector<float> retained;  // [tokens]: each query's retained mass, the mean over its kv-heads
  // For each query the attention to what it sees, by rank: the mean over the unit's query heads,
  // renormalised. Query q sees the positions up to q that are evicted after q tokens or more were
  // seen. Empty if it would have more than `most_mass` numbers, where queries select their own
  // tokens, and for heads that evict nothing by budgets=....
  std::vector<float> mass;
  std::vector<Decision> decisions;  // in order
};

// Replays the unit that begins at this head (of the layer with this number in the model) and those
// that decide with it. `cell` is resolved for the trace, as in ReplayResult. Errors: those of
// replay(); no unit of the cell begins there. Cost: that of the replay of the unit's heads, a copy
// of the policy for each decision if it has scores, and 4 * most_mass bytes.
Result<UnitSteps> unit_steps(const Trace& trace,
                             const Cell& cell,
                             std::size_t layer,
                             std::size_t head,
                             std::size_t most_mass);

}  // namespace kv
