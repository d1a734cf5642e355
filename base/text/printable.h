// Text that others wrote, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kv {

// `text` with what a terminal would obey or hide spelt out: control characters and bytes that are
// not UTF-8 as \x1b, marks that change the direction of writing as \u202e. Newlines stay. What was
// printable stays as it is.
std::string printable(std::string_view text);

}  // namespace kv
