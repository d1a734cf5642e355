// Timings as a table for readers, as CSV and as JSON lines.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// A row per cell: the times to the first token, of a later token and of its attention, KiB of keys
// and values, and the largest memory of the process. The columns are described in
// reports/SCHEMA.md.
Table timing_table(const TimingResult& result);

// A line of JSON per cell, with times in seconds. docs/schemas/speed.schema.json describes the
// fields.
std::string timing_json(const TimingResult& result);

// "MODEL: 123 bytes of weights; medians of 32 tokens"
std::string timing_line(const TimingResult& result);

}  // namespace kv::reports
