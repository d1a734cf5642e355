// Both loops side by side: the mass that each policy retains in a replay of the dense run, and the
// perplexity of the model when it runs under that policy.
#pragma once

#include <string>

#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::reports {

// Whether the evaluation contains its open loop, too.
bool has_open_loop(const ClosedLoopResult& result);

// A row per cell: retained mass (open loop) and perplexity (closed loop) over all queries and
// targets, recall if the text asks questions, and both once evicting. Requires has_open_loop().
Table loops_table(const ClosedLoopResult& result);

// How similarly the two loops order the cells of each budget once they evict, as one sentence. Of
// results that do not say from where on, over all queries and targets, and also over all cells.
std::string loops_words(const ClosedLoopResult& result);

}  // namespace kv::reports
