// The table of a replay: one row per spec.
#pragma once

#include <cstddef>
#include <string>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// One row per spec, its seeds averaged, by retained mass, highest first: policy, budget, retained
// mass with its 95 % interval over heads, KL to dense, top-k overlap, output error, rows visible
// and stored, evictions, KiB. See reports/numbers/summary.h for what each number is.
Table summary_table(const ReplayResult& result);

// "0.9213 +- 0.0114"; the exact form is the mean alone. A single head has no interval.
Entry interval_entry(const Interval& interval);

// What a spec retains as a share of the optimum. If the optimum is not known, "≥" and the share
// of a bound that is never below the optimum.
Entry optimum_share_entry(const SpecSummary& summary);

// The meaning of each label, in the order of the cells: policy, budget, number of seeds, full spec.
Table specs_table(const ReplayResult& result);

// summary_table as text for a terminal, with one line under it that says what the interval is.
std::string summary_text(const ReplayResult& result, std::size_t width = 0);

}  // namespace kv::reports
