// The attention that a command reads, opened from an argument of the command line.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/files/dump.h"
#include "kvcheck/traces/synthetic/synthetic.h"
#include "kvcheck/traces/trace.h"

namespace kv::cli {

// `synthetic:GENERATOR[:field=value,...]` makes a synthetic stream (traces/synthetic/synthetic.h);
// any other word is the path of a trace file, whose checksum may take long (see open_trace for
// `progress`). Errors are those of parse_synthetic and open_trace.
Result<Trace> open_source(const std::string& word,
                          const std::function<void(double share)>& progress = {});

// The same with what the caller knows of a dump. A synthetic stream has its own kv-heads; giving
// them in `options` is an error.
Result<Dump> open_source_dump(const std::string& word,
                              const DumpOptions& options,
                              const std::function<void(double share)>& progress);

// The spec of a synthetic stream, or its error; nothing if the word is the path of a file.
std::optional<Result<SyntheticSpec>> synthetic_source(const std::string& word);

}  // namespace kv::cli
