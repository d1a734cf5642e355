// Writes a trace that is in memory as a trace file.
#pragma once

#include <cstdint>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// Writes the file that traces/FORMAT.md describes, with the numbers in the trace's own type. It
// appears whole or not at all. The trace's name and checksum are not stored, because a file has its
// own. Errors are those of TraceWriter (traces/files/writer.h).
Result<void> save_trace(const Trace& trace, const std::string& path);

// The checksum of the file that save_trace() would write: what a trace of arrays is known by. Cost:
// reads all numbers. Fails as save_trace() does, except for what has to do with files.
Result<std::uint64_t> saved_checksum(const Trace& trace);

}  // namespace kv
