#include "kvcheck/base/text/printable.h"

#include <array>
#include <cstdio>

#include "kvcheck/base/text/json_text.h"

namespace kv {
namespace {

std::string spelt(const char* format, unsigned value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// The code point of a UTF-8 character of two or three bytes; 0 for others.
unsigned short_code_point(std::string_view c) {
  const auto bits = [&](std::size_t i, unsigned mask) {
    return static_cast<unsigned>(static_cast<unsigned char>(c[i])) & mask;
  };
  if (c.size() == 2) return bits(0, 0x1fU) << 6U | bits(1, 0x3fU);
  if (c.size() == 3) return bits(0, 0x0fU) << 12U | bits(1, 0x3fU) << 6U | bits(2, 0x3fU);
  return 0;
}

// Control characters beyond ASCII, line separators, marks of direction and the byte order mark.
bool is_obeyed(unsigned code_point) {
  return (code_point >= 0x80 && code_point < 0xa0) || code_point == 0x61c ||
         (code_point >= 0x200e && code_point <= 0x200f) ||
         (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0xfeff;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    const bool control = (byte < 0x20 && byte != '\n') || byte == 0x7f;
    if (length == 0 || control) {
      out += spelt("\\x%02x", byte);
      text.remove_prefix(1);
      continue;
    }
    const unsigned code_point = short_code_point(text.substr(0, length));
    if (is_obeyed(code_point)) {
      out += spelt("\\u%04x", code_point);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string printable_line(std::string_view text) {
  std::string out = printable(text);
  for (std::size_t at = 0; (at = out.find('\n', at)) != std::string::npos;) {
    out.replace(at, 1, "\\x0a");
  }
  return out;
}

}  // namespace kv
