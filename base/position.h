// Positions: a token's index in its stream, 0-based, never reused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kv {

// A token's index in the stream. 32 bits are enough for four thousand million tokens.
using Position = std::uint32_t;

// The half-open run of positions [first, last).
struct Run {
  Position first = 0;
  Position last = 0;

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }

  bool operator==(const Run&) const = default;
};

}  // namespace kv
