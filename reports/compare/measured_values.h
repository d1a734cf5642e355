// What one cell measured, as one number. Private to reports/compare.
#pragma once

#include <cstddef>
#include <string_view>

#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/sim/replay/closed_loop.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// What the cell holds of one layer.
CellResult of_layer(const CellResult& cell, std::size_t layer);

// The measure of that name (reports/compare/measures.h); NaN if it was not measured.
double replayed(const AfterLoss& after, const CellResult& cell, std::string_view name);
double evaluated(const ClosedLoopResult& text, const ClosedLoopCell& cell, std::string_view name);
double timed(const TimedCell& cell, std::string_view name);

// As stores_more() of a summary.
bool stored_more(const CellResult& cell);

}  // namespace kv::reports
