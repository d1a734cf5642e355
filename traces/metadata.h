// The __metadata__ of a trace file: all values are strings. Their meaning is in traces/FORMAT.md.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// A file with more layers, heads or dimensions per head than this is refused.
inline constexpr std::size_t largest_dimension = 65535;

// The metadata of a trace. A size that it leaves out is 0.
struct TraceMetadata {
  TraceInfo info;
  std::size_t layer_count = 0;  // how many layers are recorded; 0 if not stated
};

// Unknown names are ignored. Errors name the entry.
Result<TraceMetadata> read_trace_metadata(const std::map<std::string, std::string>& metadata);

// The entries in the order in which they are written. Empty texts and sizes of 0 are left out.
std::vector<std::pair<std::string, std::string>> trace_metadata(const TraceInfo& info);

}  // namespace kv
