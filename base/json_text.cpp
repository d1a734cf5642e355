#include "base/json_text.h"

#include <array>
#include <cstdio>

#include "base/words.h"

namespace kv {
namespace {

// The length of the valid UTF-8 sequence at the start of `text`, or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
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
