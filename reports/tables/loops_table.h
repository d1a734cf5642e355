// Both loops side by side: what a replay of the dense run says that each policy retains, and what
// running on it costs the model.
#pragma once

#include <string>

#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {

// Whether the evaluation was asked for its open loop, too.
bool has_open_loop(const ClosedLoopResult& result);

// A row per cell: retained mass (open loop), perplexity (closed loop) and recall if the text asks.
// Requires has_open_loop().
Table loops_table(const ClosedLoopResult& result);

// How far the two order the cells alike, over all of them and within each budget, as one sentence.
std::string loops_words(const ClosedLoopResult& result);

}  // namespace kv::reports
