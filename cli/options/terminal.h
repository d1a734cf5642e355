// What a terminal allows: its width, colours, and text that fits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kv::cli {

// The columns of the terminal that the descriptor is. The environment's COLUMNS, if it is a number
// from 20 to 10000, wins, so that output through a pipe can be folded too. 0: not a terminal, and
// nothing is folded.
std::size_t columns_of(int descriptor);

// Whether to colour what is written to the descriptor: it is a terminal that can (TERM is not
// "dumb"), and the environment's NO_COLOR is not set to anything but an empty text
// (https://no-color.org).
bool colours_on(int descriptor);

// The text with every line that is longer than `columns` broken at spaces. The rest is indented as
// the text beside a term, if the line is one ("  --name  text"), and otherwise as the line itself,
// and flows into the next line of the same paragraph.
// A word that does not fit is not broken. Below a line such as "Examples:" each command remains one
// command: lines that are broken end in a backslash. With 0 columns the text is as given.
std::string folded(std::string_view text, std::size_t columns);

}  // namespace kv::cli
