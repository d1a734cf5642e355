// Notes on a text: what it lacks of what the options ask for, and its length.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/cli/options/options.h"

namespace kv::cli {

// A note if a text is longer than those that the model was trained on; `context` is 0 if they are
// not known.
std::vector<std::string> context_notes(std::size_t longest, std::size_t context);

// Notes, without "Note:" and the full stop, on --tokens above the `tokens` that were read, and on a
// --split whose word is not in the text.
std::vector<std::string> text_notes(const Arguments& arguments,
                                    const std::string& text,
                                    std::size_t tokens);

}  // namespace kv::cli
