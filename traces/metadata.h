// The __metadata__ of a trace file: all values are strings. Their meaning is in traces/FORMAT.md.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// More layers, heads, or dimensions per head than this are refused as nonsense.
inline constexpr std::size_t largest_dimension = 65535;

// What metadata says of a trace; sizes that it leaves out stay 0, except `layer_count`.
struct TraceMetadata {
  TraceInfo info;
  std::size_t layer_count = 0;  // how many layers are recorded; 0 when not said
};

// Unknown names are ignored. Errors name the entry.
Result<TraceMetadata> read_trace_metadata(const std::map<std::string, std::string>& metadata);

// In the order in which it is written. Texts and sizes that are empty are left out.
std::vector<std::pair<std::string, std::string>> trace_metadata(const TraceInfo& info);

}  // namespace kv
