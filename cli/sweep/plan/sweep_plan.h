// A checked plan of `kvcheck sweep`: every source was opened, and every cell can run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/replay/replay_plan.h"
#include "kvcheck/cli/sweep/plan/plan_text.h"
#include "kvcheck/cli/sweep/plan/planned_work.h"
#include "kvcheck/reports/sweeps/sweep_runs.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

struct SweepPlan {
  PlanText text;
  std::vector<Cell> cells;            // of each source, before any is left out
  std::vector<std::string> left_out;  // a sentence for each trace that some cells do not fit
  std::vector<std::string> notes;     // about effects that the user may not have meant
  reports::SweepIdentity identity;
  std::unique_ptr<const PlannedWork> work;
};

// Reads and checks the file. Errors: those of parse_plan, and with the field that names it, an
// unknown policy, a source that cannot be opened, a cell that it cannot serve, two sources or two
// cells that are the same, and a plan none of whose cells can run.
Result<SweepPlan> plan_sweep(const std::string& path, const ReadingProgress& progress = {});

}  // namespace kv::cli
