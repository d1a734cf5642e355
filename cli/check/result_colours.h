// Colours in the text of a check.
#pragma once

#include <string>
#include <string_view>

namespace kv::cli {

// The text of a check with what is broken in red, what was not run in yellow, and the count of laws
// that hold in green. Nothing but colours is added.
std::string with_colours(std::string_view text);

}  // namespace kv::cli
