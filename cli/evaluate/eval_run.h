// The runs of `kvcheck eval`: every text under every cell, on several threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/evaluate/eval_plan.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::cli {

// Receives the share that is done and what is running, never from two threads at once. If it
// returns false, the run stops.
using EvalProgress = std::function<bool(double share, const std::string& what)>;

// Returns one result per text, with its cells in the order of the plan. Threads share nothing but
// the model, so the numbers do not depend on how many there are. The error is that of the first
// cell, in the same order, that failed.
// `parts`, if not null, receives each finished cell of a text and is asked for it first.
Result<std::vector<ClosedLoopResult>> run_eval(const EvalPlan& plan,
                                               const EvalProgress& progress,
                                               PartStore* parts = nullptr);

}  // namespace kv::cli
