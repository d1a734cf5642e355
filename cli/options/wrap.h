// Text for a terminal: terms and their meanings, in lines of at most 100 columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kv::cli {

// The columns of a definition: the term begins at `indent`, its text at `column`.
struct Layout {
  std::size_t indent = 2;
  std::size_t column = 14;
};

// The term with the text beside it, broken at spaces. A term that reaches the column has a line of
// its own. A word that is longer than a line is not broken. Ends with a newline.
std::string definition(std::string_view term, std::string_view text, const Layout& layout = {});

}  // namespace kv::cli
