// Text from outside the program, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kv {

// `text` with every character that a terminal would interpret or hide written as an escape: control
// characters and bytes that are not UTF-8 as \x1b, marks that change the direction of writing as
// \u202e. Newlines and printable characters are not changed.
std::string printable(std::string_view text);

// The same for a text that must remain on one line: newlines are escaped too.
std::string printable_line(std::string_view text);

}  // namespace kv
