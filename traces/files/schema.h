// Makes a Trace of a safetensors container, whose names, shapes and metadata must agree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"
#include "kvcheck/traces/files/safetensors.h"
#include "kvcheck/traces/trace.h"

namespace kv {

// The data that a Trace keeps about the file that it was read from.
struct TraceOrigin {
  std::string name;
  std::shared_ptr<const MappedFile> file;  // the owner of the bytes that views point into
};

// The trace has no checksum yet. Messages name the metadata entry or tensor but not the file.
Result<Trace> read_schema(const Safetensors& file, TraceOrigin origin);

}  // namespace kv
