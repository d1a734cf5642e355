// Exports: every number of a replay as JSON lines or CSV, in one fixed order.
//
// The same result gives the same bytes. Numbers print as the shortest text that reads back exactly.
// A number that was not measured is null in JSON and an empty field in CSV.
#pragma once

#include <string>

#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// One JSON object per line and cell, "type":"cell"; with `per_head`, after each cell one per query
// head, "type":"head". The fields are described in reports/SCHEMA.md.
std::string json_lines(const ReplayResult& result, bool per_head);

// The same fields as CSV, with the columns of cells and after them `layer` and `head`: a row per
// cell, and after it one per query head. A field that a row's type lacks is empty.
std::string cells_and_heads_csv(const ReplayResult& result);

// The same fields as CSV with a header line: one row per cell, per (cell, query head), and per
// (cell, point of the series).
std::string cells_csv(const ReplayResult& result);
std::string heads_csv(const ReplayResult& result);
std::string series_csv(const ReplayResult& result);

}  // namespace kv::reports
