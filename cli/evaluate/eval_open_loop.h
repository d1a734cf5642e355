// The open loop beside the closed one: a replay of the model's own dense run through the same cells
// on the same text.
#pragma once

#include <functional>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::cli {

// Runs every stream densely, replays the recorded attention through the plan's cells, and writes
// the mean retained mass into the cells of the results. It covers only texts whose longest stream
// fits in the context that the model was trained on, because attention beyond it is meaningless.
// Errors: no text is that short; those of recording and replaying; an interruption. Requires the
// results of the plan, in its order. Several may run at once.
// `continues` is asked often, and stops the work by answering no; `parts`, if not null, receives
// the masses of each stream and is asked for them first.
Result<void> add_open_loop(const EvalPlan& plan,
                           std::vector<ClosedLoopResult>& results,
                           const std::function<bool()>& continues,
                           PartStore* parts = nullptr);

}  // namespace kv::cli
