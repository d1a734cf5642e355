// The only random number generator of the project. It is counter-based: a draw is addressed by a
// key, and no state is advanced.
//
// A draw is a pure function of (seed, stream, position, index), so a result does not depend on the
// order of draws, on threads, or on how a stream is divided into chunks. Nothing else in the
// project draws random numbers. No number that is printed or compared comes from a <random>
// distribution, because those differ between libraries.
//
// Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
// section 3 (Philox 4x32, ten rounds). tests/base/rng_test.cpp compares it with the authors'
// published known-answer vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kvcheck/base/position.h"

namespace kv {

// The Philox 4x32-10 block function: maps 128 bits of counter and 64 bits of key to 128 random
// bits.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// How many positions one call of Rng::bits_of_run covers.
inline constexpr std::size_t run_of_positions = 16;

// The upper 52 bits as a multiple of 2^-52, plus 2^-53: in (0, 1) for all bits, so that its
// logarithm is finite and 1 - x is never 0. With 53 bits the largest would round to 1.
double open_unit(std::uint64_t bits);

// Random numbers for one seed and one stream, addressed by position and index.
//
//   seed    the seed that the user gives
//   stream  which part draws: stream_of(layer, head) for a unit's cache, or a task's number
//
// A value: copying it is free and gives the same draws. Cost: one block, about 10 ns, per call.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint32_t stream = 0) : seed_(seed), stream_(stream) {}

  // 64 uniform random bits for the index-th draw made on behalf of `position`.
  [[nodiscard]] std::uint64_t bits(Position position, std::uint32_t index = 0) const;

  // bits() of `first` and the positions after it. Cost: less than that of as many calls of bits(),
  // above all with AVX-512, where all are computed in one register.
  [[nodiscard]] std::array<std::uint64_t, run_of_positions> bits_of_run(
      Position first, std::uint32_t index = 0) const;

  // Uniform on {0, ..., bound - 1}, without bias (Lemire's multiply-and-reject). Requires bound >
  // 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound,
                                    Position position,
                                    std::uint32_t index = 0) const;

  // The same, given bits(position, index).
  [[nodiscard]] std::uint64_t below_from(std::uint64_t bits,
                                         std::uint64_t bound,
                                         Position position,
                                         std::uint32_t index = 0) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(bits) * bound;
    // Whether a product is rejected is rarely a question: its low half is nearly always larger.
    if (static_cast<std::uint64_t>(product) > bound)
      return static_cast<std::uint64_t>(product >> 64);
    return below_or_again(bits, bound, position, index);
  }

  // Uniform on the open interval (0, 1): open_unit of 64 bits.
  [[nodiscard]] double uniform(Position position, std::uint32_t index = 0) const;

  // Standard normal, by the Box-Muller transform of two uniforms.
  [[nodiscard]] double normal(Position position, std::uint32_t index = 0) const;

 private:
  [[nodiscard]] std::uint64_t block(Position position,
                                    std::uint32_t index,
                                    std::uint32_t round) const;
  [[nodiscard]] std::uint64_t below_or_again(std::uint64_t bits,
                                             std::uint64_t bound,
                                             Position position,
                                             std::uint32_t index) const;

  std::uint64_t seed_;
  std::uint32_t stream_;
};

// A separate seed for each name, so that policies with the same seed draw different numbers: seed
// XOR the 64-bit FNV-1a hash of the name.
std::uint64_t seed_for(std::uint64_t seed, std::string_view name);

// The stream of the unit of a layer and a head. Requires both below 65,536.
std::uint32_t stream_of(std::size_t layer, std::size_t head);

}  // namespace kv
