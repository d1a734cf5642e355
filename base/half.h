// Half-precision numbers: IEEE binary16 (f16) and bfloat16 (bf16) as raw bits.
#pragma once

#include <bit>
#include <cstdint>

namespace kv {

// Exact, because every f16 and bf16 number is a float. A NaN becomes a NaN. Both functions are
// inline and have no branches, so that compilers vectorise loops over them.
inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t rest = bits & 0x7FFFU;
  // After the shift the exponent is 112 too small; the multiplication corrects it, for subnormal
  // numbers too. The exponent of infinities and NaNs is then set to all ones.
  const float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112F;
  const std::uint32_t special = rest >= 0x7C00U ? 0x7F800000U : 0;
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | special | sign);
}

inline float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Rounds to nearest, ties to even. Numbers beyond the range become infinities.
std::uint16_t f32_to_f16(float value);
std::uint16_t f32_to_bf16(float value);

}  // namespace kv
