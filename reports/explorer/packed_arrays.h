// The arrays of the page, one after another as bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace kv::reports {

class PackedArrays {
 public:
  // Appends the numbers, little-endian, and returns the offset of the first one, a multiple of 4:
  // a typed array of JavaScript begins at a multiple of its numbers' size.
  template <typename T>
  std::uint64_t add(std::span<const T> numbers) {
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    const std::uint64_t offset = bytes_.size();
    bytes_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    return offset;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace kv::reports
