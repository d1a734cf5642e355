#include "kvcheck/base/half.h"

#include <bit>

namespace kv {

std::uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000U) {
    half = 0x7E00U;
  } else if (magnitude >= 0x477FF000U) {  // at least 65,520 rounds to infinity
    half = 0x7C00U;
  } else if (magnitude < 0x38800000U) {  // subnormal: the addition rounds at the right bit
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  } else {
    // Lowers the exponent by 112 and rounds; a carry out of the fraction raises the exponent.
    const std::uint32_t odd = magnitude >> 13 & 1U;
    half = (magnitude - 0x38000000U + 0xFFFU + odd) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // A NaN is made quiet: without its lower bits it could become an infinity.
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

}  // namespace kv
