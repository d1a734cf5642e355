#include "kvcheck/base/packed_bytes.h"

#include <bit>
#include <cstring>
#include <utility>

namespace kv {
namespace {

// Reals from here on are not written as whole numbers: doubles are no longer dense there.
constexpr double too_large = 9007199254740992.0;  // 2^53

}  // namespace

void PackedWriter::real(double value) {
  // The comparison of bits excludes -0, and that of values NaN.
  if (value >= 0 && value < too_large) {
    const auto whole = static_cast<std::uint64_t>(value);
    if (std::bit_cast<std::uint64_t>(static_cast<double>(whole)) ==
        std::bit_cast<std::uint64_t>(value)) {
      return number(whole + 1);
    }
  }
  number(0);
  bits(value);
}

void PackedWriter::bits(double value) {
  room(sizeof value);
  std::memcpy(bytes_.data() + used_, &value, sizeof value);
  used_ += sizeof value;
}

std::vector<std::byte> PackedWriter::take() {
  bytes_.resize(used_);
  used_ = 0;
  return std::exchange(bytes_, {});
}

std::uint64_t PackedReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    const std::uint64_t bits = byte & 0x7f;
    if (shift == 63 && bits > 1) break;  // more than 64 bits
    value |= bits << shift;
    if (byte < 0x80) return value;
  }
  fail();
  return 0;
}

double PackedReader::real() {
  const std::uint64_t whole = number();
  return whole > 0 ? static_cast<double>(whole - 1) : bits();
}

double PackedReader::bits() {
  double value = 0;
  if (rest_.size() < sizeof value) {
    fail();
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_ = rest_.subspan(sizeof value);
  return value;
}

std::size_t PackedReader::count() {
  const std::uint64_t count = number();
  if (count <= rest_.size()) return count;
  fail();
  return 0;
}

}  // namespace kv
