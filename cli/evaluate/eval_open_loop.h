// The open loop beside the closed one: what a replay of the model's own dense run says of the same
// cells on the same text.
#pragma once

#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::cli {

// Runs every stream densely, replays what was recorded through the plan's cells, and puts the mean
// retained mass into the results' cells. Only texts whose longest stream is within what the model
// was trained on: attention beyond it says nothing. Errors: no text is that short; those of
// recording and replaying, and being interrupted. Requires the plan's results, in its order.
Result<void> add_open_loop(const EvalPlan& plan, std::vector<ClosedLoopResult>& results);

}  // namespace kv::cli
