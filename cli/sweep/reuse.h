// Cells that earlier runs of the results file hold already.
#pragma once

#include <cstddef>
#include <span>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/sweep/blocks.h"
#include "kvcheck/reports/sweeps/sweep_file.h"

namespace kv::cli {

// Copies into the run of the sweep the cells of the blocks that another run of this version holds
// with at least the detail of the plan; returns how many. Of replays a cell is the same if the
// checksum of the trace, its marks and kv-heads, top-k, spec and seed are; of evaluations and
// tasks, if its spec and seed are, and what the run of a sweep holds as ModelInputs::cell. A plan
// with an oracle takes over none, because a run does not say up to what length its optimum was
// computed. Timings are measured anew.
Result<std::size_t> reuse_earlier(const SweepPlan& plan,
                                  std::span<const SweepBlock> blocks,
                                  reports::SweepFile& file);

}  // namespace kv::cli
