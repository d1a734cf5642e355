// What the text of a command lacks of what its options ask for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/cli/options/options.h"

namespace kv::cli {

// Notes, without "Note:" and the full stop, on --tokens above the `tokens` that were read, and on a
// --split whose word is not in the text.
std::vector<std::string> text_notes(const Arguments& arguments,
                                    const std::string& text,
                                    std::size_t tokens);

}  // namespace kv::cli
