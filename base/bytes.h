// The bytes of a saved state: snapshot writes them and restore reads them.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

// Appends values in the machine's byte order (little-endian on every supported machine).
class ByteWriter {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T>

  void put(T value) { put_bytes(std::as_bytes(std::span(&value, 1))); }

  // Appends the number of values, then the values.
  template <typename T>
  requires std::is_arithmetic_v<T>

  void put(const std::vector<T>& values) {
    put(values.size());
    put_bytes(std::as_bytes(std::span(values)));
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  std::vector<std::byte> bytes_;
};

// Reads the values back in the order in which they were written. A read past the end returns zeros
// and makes finished() return an error, so a reader checks only once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>

  requires std::is_arithmetic_v<T> T get() {
    T value{};
    take(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  template <typename T>
  requires std::is_arithmetic_v<T>

  void get(std::vector<T>& values) {
    const auto count = get<std::size_t>();
    if (count > rest_.size() / sizeof(T)) return fail();
    values.resize(count);
    take(std::as_writable_bytes(std::span(values)));
  }

  // Returns an error if a read passed the end or if bytes are left.
  [[nodiscard]] Result<void> finished() const;

 private:
  void take(std::span<std::byte> into) {
    if (into.size() > rest_.size()) return fail();
    if (!into.empty()) std::memcpy(into.data(), rest_.data(), into.size());
    rest_ = rest_.subspan(into.size());
  }

  void fail() {
    failed_ = true;
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace kv
