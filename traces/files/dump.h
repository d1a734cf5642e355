// Attention dumps: NumPy arrays of shape [layers, heads, queries, keys] or [heads, queries, keys].
// The traces have no checksum yet.
#pragma once

#include <cstddef>
#include <span>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/files/schema.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// A mapped .npy file. <f2 and <f4 are read where they are; <f8 is rounded to f32 in memory.
Result<Trace> read_npy_dump(std::span<const std::byte> bytes, TraceOrigin origin);

// A mapped .npz file, whose array is decompressed into memory.
Result<Trace> read_npz_dump(std::span<const std::byte> bytes, TraceOrigin origin);

}  // namespace kv
