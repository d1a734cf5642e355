// The scripts that make a shell complete the command lines of kvcheck.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::cli {

// The script for bash, zsh or fish. Each asks the program, `kvcheck complete -- WORDS`, for every
// word. An error for any other shell.
Result<std::string> completion_script(std::string_view shell);

}  // namespace kv::cli
