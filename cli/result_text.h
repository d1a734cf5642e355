// A replay's results as text: the table that is printed, JSON lines and CSV.
#pragma once

#include <string>
#include <string_view>

#include "sim/replay.h"

namespace kv::cli {

// "NAME: 512 tokens, ...; open loop: ...", one line: what the table below it was measured on.
std::string head_line(const TraceInfo& trace);

// The cells, best first, in aligned columns.
std::string summary_table(const ReplayResult& result);

// One JSON object per line: each cell and, if asked, each query head of it.
std::string json_text(const ReplayResult& result, bool per_head);

// The CSV's first line, and a line per cell or, if asked, per query head of each cell.
std::string csv_header(bool per_head);
std::string csv_rows(const ReplayResult& result, bool per_head);

}  // namespace kv::cli
