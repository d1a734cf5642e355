// Text for a terminal: terms and what they mean, in lines of at most 100 columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kv::cli {

// Where a definition stands: the term at `indent`, its text from `column` on.
struct Layout {
  std::size_t indent = 2;
  std::size_t column = 14;
};

// The term, then the text beside it, broken at spaces; a term that reaches the column stands on a
// line of its own. Words too long for a line are left whole. Ends with a newline.
std::string definition(std::string_view term, std::string_view text, const Layout& layout = {});

}  // namespace kv::cli
