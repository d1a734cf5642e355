// JSON text, written one object at a time. Reading JSON is Boost.JSON's work; writing is here
// because numbers must print the shortest text that reads back exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kv {

// The bytes of the UTF-8 character that `text` begins with, or 0 if it begins with none. Requires
// a text that is not empty.
std::size_t utf8_length(std::string_view text);

// `text` between quotes, with what JSON forbids escaped. Invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

// Builds {"name":value,...} in the order of the calls.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view value);

  JsonObject& add(std::string_view name, const char* value) {
    return add(name, std::string_view(value));
  }

  JsonObject& add(std::string_view name, double value);
  JsonObject& add(std::string_view name, std::uint64_t value);
  JsonObject& add(std::string_view name, std::int64_t value);
  JsonObject& add(std::string_view name, bool value);

  // `json` is already JSON text.
  JsonObject& add_raw(std::string_view name, std::string_view json);

  [[nodiscard]] std::string text() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

}  // namespace kv
