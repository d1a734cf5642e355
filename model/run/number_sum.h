// A checksum of numbers at places, to which they may be added in any order and in any parts.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kv::model {

// The sum over all numbers of a mixture of their bits and their places, modulo 2^64; `first` is the
// place of the first. A number of 0 bits adds nothing, so that what was never put needs no place.
inline std::uint64_t sum_of_numbers(std::uint64_t first, std::span<const float> numbers) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(numbers[i]);
    // Odd multipliers: those of splitmix64 and of xxHash.
    std::uint64_t mixed = (bits ^ ((first + i) * 0x9E3779B97F4A7C15U)) * 0xC2B2AE3D27D4EB4FU;
    mixed = (mixed ^ (mixed >> 29U)) * 0xBF58476D1CE4E5B9U;
    sum += bits == 0 ? 0 : mixed ^ (mixed >> 32U);
  }
  return sum;
}

}  // namespace kv::model
