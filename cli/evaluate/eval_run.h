// The runs of `kvcheck eval`: every text under every cell, on several threads.
#pragma once

#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/cli/model/kept_work.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::cli {

// Returns one result per text, with its cells in the order of the plan. Threads share nothing but
// the model, so the numbers do not depend on how many there are. The error is that of the first
// cell, in the same order, that failed.
// `parts`, if not null, receives each finished cell of a text and is asked for it first.
Result<std::vector<ClosedLoopResult>> run_eval(const EvalPlan& plan,
                                               const WorkProgress& progress,
                                               PartStore* parts = nullptr);

}  // namespace kv::cli
