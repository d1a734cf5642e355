// Continuations of an unfinished spec.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kv::cli {

// Whole words that begin with `typed`: policies and presets; after a ':' or ',' the fields of the
// policy; after a ';' the settings; after a '=' the words that are legal there. Numbers have no
// continuation. A field that is already in `typed` is left out.
std::vector<std::string> spec_words(std::string_view typed);

}  // namespace kv::cli
