// Sixteen blocks of Philox at once: the draws of consecutive positions.
#pragma once

#include <array>
#include <cstdint>

#include "kvcheck/base/position.h"

namespace kv {

inline constexpr std::uint32_t philox_multiplier_0 = 0xD2511F53;
inline constexpr std::uint32_t philox_multiplier_1 = 0xCD9E8D57;
inline constexpr std::uint32_t philox_weyl_0 = 0x9E3779B9;
inline constexpr std::uint32_t philox_weyl_1 = 0xBB67AE85;

// The draws Rng(seed, stream).bits(first + i, index) for i = 0 ... 15.
struct PhiloxRun {
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  Position first = 0;
  std::uint32_t index = 0;
};

// The bits of sixteen consecutive positions, the same on every machine. Cost: with AVX-512 about a
// tenth of sixteen calls of Rng::bits.
void philox_sixteen(const PhiloxRun& run, std::array<std::uint64_t, 16>& out);

// Requires AVX-512 (F, BW, VL, DQ).
void philox_sixteen_avx512(const PhiloxRun& run, std::array<std::uint64_t, 16>& out);

}  // namespace kv
