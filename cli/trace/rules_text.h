// What the layers of a trace do, as `kvcheck trace info` prints it.
#pragma once

#include <string>

#include "kvcheck/traces/trace.h"

namespace kv::cli {

// "half, 64 dimensions, theta 10000", with the layers that differ.
std::string rotation_text(const TraceInfo& info);

// Scales, caps, windows, sinks and slopes, with the layers that have them; empty if there are none.
std::string attention_text(const TraceInfo& info);

// A JSON list with an object for each recorded layer, of a trace that has rules.
std::string rules_json(const TraceInfo& info);

// "none", "interleaved" or "half".
std::string_view layout_name(RopeLayout layout);

}  // namespace kv::cli
