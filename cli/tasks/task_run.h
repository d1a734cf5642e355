// The runs of `kvcheck eval --tasks`: every item under every cell, on several threads.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/base/kept_parts.h"
#include "kvcheck/cli/model/kept_work.h"
#include "kvcheck/cli/tasks/task_plan.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::cli {

// The result of the plan. The numbers do not depend on how many threads there are. The error is
// that of the first item, by cell, that failed.
// `parts`, if not null, receives each finished item of a cell and is asked for it first.
Result<TaskResult> run_tasks_of(const TaskPlan& plan,
                                const WorkProgress& progress,
                                PartStore* parts = nullptr);

}  // namespace kv::cli
