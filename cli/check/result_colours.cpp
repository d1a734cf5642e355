#include "kvcheck/cli/check/result_colours.h"

#include "kvcheck/base/text/text.h"

namespace kv::cli {
namespace {

constexpr std::string_view red = "\x1b[1;31m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view plain = "\x1b[0m";

// The colour of a whole line; empty: none.
std::string_view colour_of(std::string_view line) {
  if (line.starts_with("BROKEN  ") || line == "The subject breaks its laws.") return red;
  // A line of the table: the law, spaces, the status.
  const std::size_t word = line.find("  ");
  if (word == std::string_view::npos || word == 0) return {};
  const std::size_t at = line.find_first_not_of(' ', word);
  const std::string_view status = at == std::string_view::npos ? "" : line.substr(at);
  if (status.starts_with("broken ")) return red;
  if (status.starts_with("not run ")) return yellow;
  return {};
}

}  // namespace

std::string with_colours(std::string_view text) {
  std::string out;
  bool first = true;
  for (const std::string_view line : split(text, '\n')) {
    if (!first) out += '\n';
    first = false;
    if (const std::string_view colour = colour_of(line); !colour.empty()) {
      out.append(colour).append(line).append(plain);
    } else if (const std::size_t end = line.find(", 0 broken");
               end != line.npos && (line.substr(0, end).ends_with(" laws hold") ||
                                    line.substr(0, end).ends_with(" law holds"))) {
      out.append(green).append(line.substr(0, end)).append(plain).append(line.substr(end));
    } else {
      out += line;
    }
  }
  return out;
}

}  // namespace kv::cli
