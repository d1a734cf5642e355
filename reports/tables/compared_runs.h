// The parts of a results file that a comparison joins. Private to reports/tables.
#pragma once

#include <optional>
#include <vector>

#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// The cells of an evaluation with that spec, one per seed.
std::vector<const ClosedLoopCell*> closed_cells_of(const ClosedLoopResult& result,
                                                   const Spec& spec);

// The timing of that spec after the longest prompt, as the median over repetitions; nothing if
// there is none. `result` may be null.
std::optional<TimedCell> longest_timed(const TimingResult* result, const Spec& spec);

}  // namespace kv::reports
