// Blocks of Philox for consecutive positions at once, and the numbers that they share with Rng.
#pragma once

#include <array>
#include <cstdint>

#include "kvcheck/base/random/rng.h"

namespace kv {

inline constexpr std::uint32_t philox_multiplier_0 = 0xD2511F53;
inline constexpr std::uint32_t philox_multiplier_1 = 0xCD9E8D57;
inline constexpr std::uint32_t philox_weyl_0 = 0x9E3779B9;
inline constexpr std::uint32_t philox_weyl_1 = 0xBB67AE85;

// The draws Rng(seed, stream).bits(first + i, index) for i = 0 ... run_of_positions - 1.
struct PhiloxRun {
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  Position first = 0;
  std::uint32_t index = 0;
};

using RunBits = std::array<std::uint64_t, run_of_positions>;

// What Rng::bits_of_run calls: on machines without AVX-512, and on those with it (F, BW, VL, DQ).
void philox_run_plain(const PhiloxRun& run, RunBits& out);
void philox_run_avx512(const PhiloxRun& run, RunBits& out);

}  // namespace kv
