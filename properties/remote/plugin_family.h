// Subjects of a shared library behind the C interface (plugin.h).
#pragma once

#include <filesystem>
#include <memory>

#include "kvcheck/properties/remote/remote_family.h"

namespace kv::properties {

// Loads the library in a child process, where all its calls are made. An error if it cannot be
// loaded or speaks another version.
Result<std::unique_ptr<Family>> make_plugin_family(const std::filesystem::path& library,
                                                   const RemoteOptions& options = {});

// Loads it into this process: a crash is the caller's.
Result<std::unique_ptr<Family>> load_plugin(const std::filesystem::path& library);

}  // namespace kv::properties
