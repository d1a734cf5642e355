// Completion of command lines, for the scripts that shells run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

// What may stand in the place of the last of `words`, which are those after the program's name: the
// commands, the verbs, options and first operands of one, the words, specs and laws that are legal
// as the value of an option. Each begins with the unfinished word. There is nothing where a file, a
// number or free text belongs, so that shells offer files there.
std::vector<std::string> completions(std::span<const Command* const> commands,
                                     std::span<const std::string> words);

}  // namespace kv::cli
