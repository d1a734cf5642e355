// Numbers as few bytes, for results that are kept until a run is complete.
//
// A number takes one byte for each seven of its bits. A real that is a small whole number is
// written like one, any other one as its eight bytes, so every bit is kept.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kv {

class PackedWriter {
 public:
  void number(std::uint64_t value) {
    room(longest);
    while (value >= 0x80) {
      bytes_[used_++] = static_cast<std::byte>(value | 0x80);
      value >>= 7;
    }
    bytes_[used_++] = static_cast<std::byte>(value);
  }

  void real(double value);

  // The eight bytes alone, for reals that are seldom whole.
  void bits(double value);

  // The count, then the numbers.
  template <std::unsigned_integral T>
  void numbers(const std::vector<T>& values) {
    number(values.size());
    for (const T value : values) number(value);
  }

  // Gives the bytes away; the writer is empty again.
  [[nodiscard]] std::vector<std::byte> take();

 private:
  static constexpr std::size_t longest = 10;  // bytes of a number

  // Makes room for so many bytes. The vector is longer than what is written, because push_back on
  // each byte would take a tenth of the time of a replay of short streams.
  void room(std::size_t bytes) {
    if (bytes_.size() - used_ < bytes) bytes_.resize(2 * bytes_.size() + bytes + 4096);
  }

  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

// Reads back what PackedWriter wrote, in the same order. A read that is not possible gives zero and
// makes whole() false, so a reader checks only once, at the end. No vector that it fills has more
// entries than there are bytes.
class PackedReader {
 public:
  explicit PackedReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint64_t number();
  double real();
  double bits();

  // A count of things that take at least one byte each.
  std::size_t count();

  template <std::unsigned_integral T>
  void numbers(std::vector<T>& values) {
    values.resize(count());
    for (T& value : values) {
      const std::uint64_t read = number();
      if (read > std::numeric_limits<T>::max()) fail();
      value = static_cast<T>(read);
    }
  }

  // Whether everything was read and nothing is left.
  [[nodiscard]] bool whole() const { return !failed_ && rest_.empty(); }

 private:
  void fail() {
    failed_ = true;
    rest_ = {};
  }

  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace kv
