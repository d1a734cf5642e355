// Files that the options --json, --csv and their like name: regular files, pipes and devices.
#pragma once

#include <initializer_list>
#include <iosfwd>
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

// What options named: a path and its text each. "-" is `out`, and without a path nothing is
// written. Ends with the first error of write_output().
struct NamedText {
  std::string path;
  std::string text;
};

Result<void> write_texts(std::initializer_list<NamedText> texts, std::ostream& out);

}  // namespace kv::cli
