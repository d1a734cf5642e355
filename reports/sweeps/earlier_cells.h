// Cells that other runs of a results file hold, so that they are not run again.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/reports/sweeps/sweep_runs.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// The ids of cells and of their sources, by result_key().
using EarlierCells = std::map<std::string, HeldCell>;

// Those of this kind in all runs of this version but one. There are none of timings.
Result<EarlierCells> earlier_cells(Database& database, SweepKind kind, std::int64_t run);

// What decides the results of a cell, besides the version.
std::string result_key(const TraceInfo& trace, std::size_t top_k, const Cell& cell);

// The same of an evaluation or of tasks.
std::string result_key(std::uint64_t inputs, const Cell& cell);

}  // namespace kv::reports
