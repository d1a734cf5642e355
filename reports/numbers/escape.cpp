#include "kvcheck/reports/numbers/escape.h"

#include <cstddef>

namespace kv::reports {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

bool control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// The length of the UTF-8 sequence at the start of `text`; 0 when it is not one.
std::size_t sequence(std::string_view text) {
  // C0 and C1 begin only overlong forms; F5 and above would be beyond U+10FFFF.
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
  }
  return length;
}

// `text` with each control character but those in `kept` and each broken byte replaced, each other
// character passed through `escape`.
template <typename Escape>
std::string mapped(std::string_view text,
                   std::string_view broken,
                   Escape escape,
                   std::string_view kept = "") {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence(text);
    // U+0080 to U+009F are control characters too.
    const bool high =
        length == 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) < 0xa0;
    if (length == 0 || high || (control(text[0]) && kept.find(text[0]) == kept.npos)) {
      out += broken;
    } else {
      out += escape(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

constexpr std::string_view replacement = "\xEF\xBF\xBD";

std::string_view html_character(std::string_view c) {
  if (c == "&") return "&amp;";
  if (c == "<") return "&lt;";
  if (c == ">") return "&gt;";
  if (c == "\"") return "&quot;";
  if (c == "'") return "&#39;";
  return c;
}

std::string markdown_character(std::string_view c) {
  const bool special =
      c.size() == 1 && std::string_view("\\`*_[]<>|&").find(c[0]) != std::string_view::npos;
  return special ? "\\" + std::string(c) : std::string(c);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  return mapped(text, replacement, html_character);
}

std::string html_lines_escaped(std::string_view text) {
  const auto escape = [](std::string_view c) { return c == "\r" ? "" : html_character(c); };
  return mapped(text, replacement, escape, "\n\t\r");
}

std::string markdown_escaped(std::string_view text) {
  return mapped(text, " ", markdown_character);
}

std::string gnuplot_quoted(std::string_view text) {
  // Between single quotes gnuplot expands nothing, and a quote is written twice.
  const auto escape = [](std::string_view c) { return c == "'" ? std::string_view("''") : c; };
  return "'" + mapped(text, "?", escape) + "'";
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text)
    if (!continues(c)) ++width;
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && seen++ == width - 1) break;
  }
  return std::string(text.substr(0, end)) + "\xE2\x80\xA6";
}

}  // namespace kv::reports
