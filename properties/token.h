// A token as laws name it: where it stands in the stream, and which of several contents it has.
#pragma once

#include <compare>
#include <cstdint>

namespace kv::properties {

// Tokens of different variants at one position are different tokens: what was fed, taken back and
// fed anew, or what two branches of a fork fed.
struct Token {
  std::int32_t position = -1;  // -1: no token that was ever fed (padding, garbage)
  std::int32_t variant = 0;

  // The check takes the 0 that the compiler compares with for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const Token&) const = default;
};

}  // namespace kv::properties
