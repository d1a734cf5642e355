// Writes JSON text, one object at a time. Boost.JSON reads JSON; writing it is done here, because
// numbers must print as the shortest text that reads back exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kv {

// The length in bytes of the UTF-8 character at the start of `text`; 0 if there is none. Requires
// that `text` is not empty.
std::size_t utf8_length(std::string_view text);

// `text` between double quotes, with control characters and everything else that JSON forbids
// escaped. Invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

// [a,b,...] of the JSON text that `json_of` makes of each item.
template <typename Items, typename JsonOf>
std::string json_list(const Items& items, JsonOf json_of) {
  std::string list = "[";
  for (const auto& item : items) {
    if (list.size() > 1) list += ',';
    list += json_of(item);
  }
  return list + "]";
}

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
