#include "kvcheck/cli/options/wrap.h"

#include "kvcheck/base/text/text.h"

namespace kv::cli {

std::string definition(std::string_view term, std::string_view text, const Layout& layout) {
  constexpr std::size_t width = 100;
  std::string out;
  std::string line(layout.indent, ' ');
  line += term;
  const auto end_line = [&] {
    out += line + "\n";
    line.clear();
  };
  if (!term.empty() && line.size() + 1 > layout.column) end_line();
  line.resize(layout.column, ' ');
  for (const std::string_view word : split(text, ' ')) {
    const bool first = line.size() == layout.column;
    if (!first && line.size() + 1 + word.size() > width) {
      end_line();
      line.resize(layout.column, ' ');
    } else if (!first) {
      line += ' ';
    }
    line += word;
  }
  end_line();
  return out;
}

}  // namespace kv::cli
