#include "kvcheck/base/text/describe.h"

#include <array>
#include <charconv>

#include "kvcheck/base/text/json_text.h"

namespace kv {

std::string shown(std::string_view name) {
  constexpr std::size_t longest = 80;
  const bool cut = name.size() > longest;
  std::string text = json_string(name.substr(0, longest));
  text.front() = '\'';
  text.back() = '\'';
  return cut ? text + "..." : text;
}

std::string shown(float number) {
  std::array<char, 32> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end};
}

std::string shown_shape(std::span<const std::size_t> shape) {
  std::string text = "[";
  for (const std::size_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

bool product(std::span<const std::size_t> sizes, std::uint64_t& result) {
  result = 1;
  for (const std::size_t size : sizes) {
    if (size == 0) {
      result = 0;
      return true;
    }
    if (__builtin_mul_overflow(result, std::uint64_t{size}, &result)) return false;
  }
  return true;
}

}  // namespace kv
