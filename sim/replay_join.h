// Joins the parts of a replay. Private to sim/.
#pragma once

#include <vector>

#include "sim/replay_task.h"

namespace kv {

// Joins the parts in the order of the tasks, which no thread decides.
ReplayResult join_parts(const Plan& plan, std::vector<Task>& tasks);

}  // namespace kv
