// Timings as a table for readers, as CSV and as JSON lines.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/reports/tables/tables.h"
#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// A row per cell and length: the times to the first token, of a later token (its median and its
// mean) and of its attention, KiB of keys and values, and the largest memory of the process. Where
// cells were timed several times, these are medians with the least and the most.
Table timing_table(const TimingResult& result);

// A row per cell, length and repetition, for CSV. The columns are described in reports/SCHEMA.md.
Table timing_rows(const TimingResult& result);

// A line of JSON per row of timing_rows(), with times in seconds. docs/schemas/speed.schema.json
// describes the fields.
std::string timing_json(const TimingResult& result);

// "MODEL: 123 bytes of weights; medians of 32 tokens on 2 threads, and of 5 runs (least to most);
// avx2 kernels on AMD EPYC, family 25, model 17"
std::string timing_line(const TimingResult& result);

}  // namespace kv::reports
