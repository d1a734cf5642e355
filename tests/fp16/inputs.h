// Finite f16 numbers on which roundings differ: any bits, edges of the format, midpoints between
// two numbers, and products that nearly cancel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/tests/fp16/exact.h"

namespace kv::fp16 {

enum class Kind { any, near_one, subnormal, edge, large, small, few_bits };

class Inputs {
 public:
  explicit Inputs(std::uint64_t seed) : rng_(seed) {}

  std::uint64_t bits();

  // Uniform on {0, ..., bound - 1} up to the bias of a remainder.
  std::size_t below(std::size_t bound);

  std::uint16_t number(Kind kind);

  // Of any kind.
  std::uint16_t number();

  // A key and an angle, whose length need not be one.
  struct Factors {
    Complex key;
    Complex angle;
  };

  Factors factors();

 private:
  Factors nearly_cancelling();
  std::uint16_t neighbour(std::uint16_t number);

  Rng rng_;
  Position next_ = 0;
  std::array<std::uint64_t, run_of_positions> drawn_{};
};

}  // namespace kv::fp16
