// Half-precision numbers: IEEE binary16 (f16) and bfloat16 (bf16) as raw bits.
#pragma once

#include <cstdint>

namespace kv {

// Exact: every f16 and bf16 is a float. NaNs stay NaNs.
float f16_to_f32(std::uint16_t bits);
float bf16_to_f32(std::uint16_t bits);

// Rounded to nearest, ties to even; beyond the range, infinity.
std::uint16_t f32_to_f16(float value);
std::uint16_t f32_to_bf16(float value);

}  // namespace kv
