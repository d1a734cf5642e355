#include "kvcheck/cli/options/wrap.h"

#include <string>
#include <vector>

#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

// A number and its % share a line.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    if (word.starts_with('%') && !words.empty()) {
      words.back().append(" ").append(word);
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

}  // namespace

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
  for (const std::string& word : words_of(text)) {
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
