// Files that the options --json, --csv and their like name: regular files, pipes and devices.
#pragma once

#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::cli {

// Returns an error if write_output() could not begin. Leaves no file behind. A pipe is not opened,
// because its reader would take the closing for the end.
Result<void> check_output(const std::string& path);

// Writes `text` as the whole content of a file, which appears whole or not at all. A pipe (also as
// /dev/fd/N or a shell's process substitution) or a character device receives the text as it comes;
// if the reader of a pipe ends early, the rest is dropped. Errors: a directory, another kind of
// file, no permission, a full disk (io), a folder that does not exist (not_found).
Result<void> write_output(const std::string& path, std::string_view text);

}  // namespace kv::cli
