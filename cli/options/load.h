// The user's own policies, from shared libraries that are named before the command.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv::cli {

// Registers the policies of the libraries that the first arguments name (--load FILE or
// --load=FILE) and returns how many arguments those are. A child process loads each library before
// this one does, because a damaged one kills its loader. The libraries are never unloaded. Errors
// name the file: it cannot be loaded, exports no policies, was compiled against another interface,
// or declares an invalid policy.
Result<std::size_t> load_policies(std::span<const std::string> arguments);

// The files of the libraries that were loaded, in order.
std::span<const std::string> loaded_libraries();

}  // namespace kv::cli
