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
// a generation, and the number of kv-heads.
Result<Dump> read_npz_dump(std::span<const std::byte> bytes,
                           const DumpOptions& options,
                           TraceOrigin origin);

// open_trace() for a file that may be a dump. A safetensors trace gives its own number of kv-heads;
// another one in `options` is an error.
Result<Dump> open_dump(const std::string& path,
                       const DumpOptions& options,
                       const std::function<void(double share)>& progress = {});

}  // namespace kv
