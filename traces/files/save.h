// Writes a trace that is in memory as a trace file.
#pragma once

#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// The file is as traces/FORMAT.md describes, numbers as the trace stores them. It appears whole or
// not at all. The trace's name and checksum are not stored: a file gets its own. Errors are those
// of TraceWriter (traces/files/writer.h).
Result<void> save_trace(const Trace& trace, const std::string& path);

}  // namespace kv
