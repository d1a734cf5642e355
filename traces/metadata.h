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
  int version = 1;
  // Of info.rules, which has one entry for all layers or as many as this entry has values: its
  // name, if it has several.
  std::string listed{};
};

// Unknown names are ignored. Errors name the entry.
Result<TraceMetadata> read_trace_metadata(const std::map<std::string, std::string>& metadata);

// Gives each of `layers` recorded layers its rules. An error if the entries have values for another
// number of layers.
Result<void> spread_rules(TraceMetadata& metadata, std::size_t layers);

// What only the tensors of the layers can show: tables of frequencies, sinks and slopes of the
// right sizes, with numbers that they may hold; a base, if a layer rotates without a table. Removes
// rules that say no more than info.rope. The error names the tensor. Requires the layers and sizes.
Result<void> finish_rules(TraceInfo& info);

// Whether only version 2 of the format can say what the trace is.
bool needs_version_2(const TraceInfo& info);

// The entries in the order in which they are written. Empty texts and sizes of 0 are left out.
std::vector<std::pair<std::string, std::string>> trace_metadata(const TraceInfo& info);

}  // namespace kv
