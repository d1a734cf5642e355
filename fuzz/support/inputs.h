// What targets make of their input: parts, files, and sentences that are right.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv::fuzz {

// The same bytes as text.
std::string_view text_of(std::span<const std::byte> input);

// The input cut at its first count - 1 zero bytes. Parts that are missing are empty.
std::vector<std::string_view> parts_of(std::span<const std::byte> input, std::size_t count);

// The path of a file of that name with these bytes, in a folder of this process that is removed
// when it ends. The next call with the same name replaces the file. Folders may be part of the
// name.
std::string scratch_file(const std::string& name, std::string_view bytes);

// The path that a file of that name has; nothing is written, and the folder of the file exists.
std::string scratch_path(const std::string& name);

// The bytes of the file, which must exist.
std::string bytes_of(const std::string& path);

// Requires that the message of the error is one line that says something. Gives false, so that a
// target can return it.
bool refused(const Error& error);

}  // namespace kv::fuzz
