// Blobs: vectors of numbers as little-endian bytes, as results files store them.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace kv::reports {

// The vector's own bytes: every supported machine is little-endian.
template <typename T>

requires std::is_arithmetic_v<T> std::span<const std::byte> as_blob(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

// The values; nothing if the bytes are not a whole number of values.
template <typename T>

requires std::is_arithmetic_v<T> std::optional<std::vector<T>> from_blob(
    std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(T) != 0) return std::nullopt;
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace kv::reports
