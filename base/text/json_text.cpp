#include "kvcheck/base/text/json_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "kvcheck/base/text/text.h"

namespace kv {
namespace {

// The sequences that a lead byte may begin: their length, and the range of their second byte. Later
// bytes are 80..BF. Narrower second bytes keep out overlong forms, surrogates and what is above
// U+10FFFF.
struct Lead {
  unsigned char first;
  unsigned char last;
  unsigned char length;
  unsigned char second_first;
  unsigned char second_last;
};

constexpr std::array<Lead, 9> leads = {{{0x00, 0x7F, 1, 0x80, 0xBF},
                                        {0xC2, 0xDF, 2, 0x80, 0xBF},
                                        {0xE0, 0xE0, 3, 0xA0, 0xBF},
                                        {0xE1, 0xEC, 3, 0x80, 0xBF},
                                        {0xED, 0xED, 3, 0x80, 0x9F},
                                        {0xEE, 0xEF, 3, 0x80, 0xBF},
                                        {0xF0, 0xF0, 4, 0x90, 0xBF},
                                        {0xF1, 0xF3, 4, 0x80, 0xBF},
                                        {0xF4, 0xF4, 4, 0x80, 0x8F}}};

// U+0080 to U+009F: control characters that some terminals interpret.
bool is_high_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xc2' &&
         static_cast<unsigned char>(character[1]) < 0xa0;
}

std::string escaped(char c) {
  if (c == '"') return "\\\"";
  if (c == '\\') return "\\\\";
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(c));
  return text.data();
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = std::ranges::find_if(
      leads, [&](const Lead& l) { return l.first <= byte(0) && byte(0) <= l.last; });
  if (lead == leads.end() || lead->length > text.size()) return 0;
  for (std::size_t i = 1; i < lead->length; ++i) {
    const unsigned char least = i == 1 ? lead->second_first : 0x80;
    const unsigned char most = i == 1 ? lead->second_last : 0xBF;
    if (byte(i) < least || byte(i) > most) return 0;
  }
  return lead->length;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    const char c = text[0];
    if (is_high_control(text.substr(0, length))) {
      out += "\\u00";
      constexpr std::string_view digits = "0123456789abcdef";
      const auto low = static_cast<unsigned char>(text[1]);
      out += digits[low >> 4U];
      out += digits[low & 15U];
      text.remove_prefix(length);
      continue;
    }
    const bool special = length == 1 && (c == '"' || c == '\\' || c < 0x20 || c == 0x7f);
    out += special ? escaped(c) : std::string(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out + "\"";
}

JsonObject& JsonObject::add_raw(std::string_view name, std::string_view json) {
  if (!body_.empty()) body_ += ",";
  body_.append(json_string(name)).append(":").append(json);
  return *this;
}

JsonObject& JsonObject::add(std::string_view name, std::string_view value) {
  return add_raw(name, json_string(value));
}

JsonObject& JsonObject::add(std::string_view name, double value) {
  return add_raw(name, shortest(value));
}

JsonObject& JsonObject::add(std::string_view name, std::uint64_t value) {
  return add_raw(name, std::to_string(value));
}

JsonObject& JsonObject::add(std::string_view name, std::int64_t value) {
  return add_raw(name, std::to_string(value));
}

JsonObject& JsonObject::add(std::string_view name, bool value) {
  return add_raw(name, value ? "true" : "false");
}

}  // namespace kv
