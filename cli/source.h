// Where a command's attention comes from: a word on the command line, opened.
#pragma once

#include <string>

#include "base/error.h"
#include "traces/trace.h"

namespace kv::cli {

// A trace file by its path. Errors are those of open_trace.
Result<Trace> open_source(const std::string& word);

}  // namespace kv::cli
