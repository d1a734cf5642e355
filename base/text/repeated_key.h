// Fields that a JSON text gives twice, of which parsers silently keep one.
#pragma once

#include <string>
#include <string_view>

namespace kv {

// The first field that one object of the text has twice; empty if there is none, or if the text is
// not JSON before it. Time and memory are linear in the text.
std::string repeated_key(std::string_view json);

}  // namespace kv
