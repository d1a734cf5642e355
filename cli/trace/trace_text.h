// The text that `kvcheck trace info` and `verify` print about a trace.
#pragma once

#include <string>

#include "kvcheck/traces/trace.h"
#include "kvcheck/traces/verify.h"

namespace kv::cli {

// A table of lines, each ending in a newline, headed by the file's name.
std::string describe_trace(const Trace& trace);

// One JSON object, without a newline.
std::string trace_json(const Trace& trace);

// One line, without a newline.
std::string describe_verified(const Trace& trace, const VerifyResult& report);

// One JSON object, without a newline.
std::string verified_json(const Trace& trace, const VerifyResult& report);

}  // namespace kv::cli
