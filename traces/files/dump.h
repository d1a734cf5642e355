// Attention dumps: NumPy arrays of shape [layers, heads, queries, keys] or [heads, queries, keys].
// The traces have no checksum yet, unless open_dump() opened them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/files/schema.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// What the caller knows of a dump.
struct DumpOptions {
  std::size_t kv_heads = 0;  // shared by the query heads, which it divides; 0: not known
  // Whether rows have a sink that is no token, so that they may sum to less than 1.
  bool learned_sinks = false;
};

struct Dump {
  Trace trace;

  // Whether the file or the caller gives the number of kv-heads. If neither does, each query head
  // has a kv-head of its own, which is wrong for models with grouped-query attention.
  bool kv_heads_known = true;
};

// A mapped .npy file. <f2 and <f4 are read where they are; <f8 is rounded to f32 in memory.
Result<Dump> read_npy_dump(std::span<const std::byte> bytes,
                           const DumpOptions& options,
                           TraceOrigin origin);

// A mapped .npz file, whose arrays are decompressed into memory: one array, or one for each step of
// a generation, beside them the number of kv-heads and whether there are learned sinks (0 or 1).
Result<Dump> read_npz_dump(std::span<const std::byte> bytes,
                           const DumpOptions& options,
                           TraceOrigin origin);

// open_trace() for a file that may be a dump. A safetensors trace says itself what `options` say;
// something else in these is an error.
Result<Dump> open_dump(const std::string& path,
                       const DumpOptions& options,
                       const std::function<void(double share)>& progress = {});

}  // namespace kv
