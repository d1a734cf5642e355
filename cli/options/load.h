// Policies of the user's own, from shared libraries named before the command.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv::cli {

// Registers the policies of the libraries that the first words name (--load FILE or --load=FILE),
// and says how many words those are. The libraries stay loaded. Errors name the file: it cannot be
// loaded, exports no policies, was compiled against another interface, or names a policy that
// cannot be.
Result<std::size_t> load_policies(std::span<const std::string> arguments);

}  // namespace kv::cli
