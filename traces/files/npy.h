// NumPy's .npy arrays: a header that is a Python dictionary, then raw numbers.
//
// Source: numpy.lib.format, versions 1.0, 2.0 and 3.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"

namespace kv {

enum class NpyType { f16, f32, f64 };

std::size_t npy_bytes(NpyType type);

struct NpyHeader {
  NpyType type = NpyType::f32;
  std::vector<std::size_t> shape;
  std::size_t data_offset = 0;   // where numbers begin
  std::uint64_t data_bytes = 0;  // of all numbers; data_offset + data_bytes fits in 64 bits
};

// True when `bytes` begins like an .npy file.
bool is_npy(std::span<const std::byte> bytes);

// Reads the header at the start of `bytes`, which may be only the first part of an array. Refuses
// anything but little-endian <f2, <f4 or <f8 in C order. Messages do not name the file.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes);

// A whole array of one integer (<i4, <i8, <u4 or <u8) that is not negative, of shape () or (1,).
Result<std::uint64_t> parse_npy_count(std::span<const std::byte> bytes);

// A longer header is refused, so the first npy_header_limit + 12 bytes hold every valid one.
inline constexpr std::size_t npy_header_limit = 65536;

}  // namespace kv
