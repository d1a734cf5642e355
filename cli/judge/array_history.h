// Recorded runs as arrays in a safetensors file: what HISTORY.md calls an array history.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::cli {

// Whether a file is a safetensors file rather than lines of JSON.
bool is_array_history(std::string_view bytes);

// The lines of JSON that say the same: the head, then a line for each call. Errors begin with
// `name`, and name the tensor that is wrong. Memory: that of the lines, at most 1 GiB.
Result<std::string> lines_of_arrays(std::string_view bytes, const std::string& name);

}  // namespace kv::cli
