// Evaluations, timings and kill matrices without a model or a battery.
#pragma once

#include <cstddef>
#include <string>

#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::testing {

// Two policies at two budgets and dense, `targets` targets in one stream.
ClosedLoopResult fake_evaluation(std::size_t targets, bool asks);

// Dense and a window at two budgets, each at two lengths.
TimingResult fake_timing();

// Ten items in two groups, some with choices, answered under a policy and dense.
TaskResult fake_tasks();

// Three laws and three mutants, as `kvcheck selftest --json` writes them.
const std::string& fake_matrix_json();

}  // namespace kv::testing
