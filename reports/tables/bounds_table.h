// The oracle's numbers as a table: what any cache of a given size could have retained.
#pragma once

#include <cstddef>
#include <string>

#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// Whether the replay was asked for bounds.
bool has_bounds(const ReplayResult& result);

// One row per budget and per setting that changes the bounds: the optimum, the greedy cache that
// knows the future, the per-step bound, and the best policy with its share. Rows are in order of
// the setting, as the cells came, then of the budget.
Table bounds_table(const ReplayResult& result);

// The meaning of the columns, in two or three sentences.
std::string bounds_words(const ReplayResult& result);

// The table and its explanation for a terminal; empty without bounds.
std::string bounds_text(const ReplayResult& result, std::size_t width);

}  // namespace kv::reports
