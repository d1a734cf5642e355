// Manual pages in the language of man(7), made from the help of the commands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

// The page of a command, of section 1. `name` is its name with that of the command it is a verb of,
// as in "trace-generate". Text is folded for a terminal of 80 columns. Usage becomes the synopsis,
// options become a list, and each paragraph that begins with a heading (as "Examples:") becomes a
// section.
std::string command_page(std::string_view name, const Command& command);

// The page of a command that has no table of options, such as "completion". Its help begins with a
// sentence, which becomes the summary.
std::string small_page(std::string_view name, std::string_view help);

// The page of the program itself, from the text of `kvcheck help`.
std::string program_page(std::string_view help, std::span<const Command* const> commands);

}  // namespace kv::cli
