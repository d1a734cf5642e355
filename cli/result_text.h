// A replay's results as text: the table that is printed, JSON lines and CSV.
#pragma once

#include <string>
#include <string_view>

#include "sim/replay.h"

namespace kv::cli {

// "NAME: 512 tokens, ...; open loop: ...", one line: what the table below it was measured on.
std::string head_line(const TraceInfo& trace);

// The cells, best first, in aligned columns.
std::string table_text(const ReplayResult& result);

// One JSON object per line: each cell and, if asked, each query head of it.
std::string json_text(const ReplayResult& result, bool per_head);

// A header line, and a line per cell or, if asked, per query head of each cell.
std::string csv_text(const ReplayResult& result, bool per_head);

}  // namespace kv::cli
