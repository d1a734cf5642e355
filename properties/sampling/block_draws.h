// CounterDraws that computes the first draws of sixteen positions at once: the same numbers.
#pragma once

#include <array>
#include <cstdint>

#include "kvcheck/base/random/draws.h"
#include "kvcheck/base/random/philox_many.h"

namespace kv::properties {

// Pays where every token draws once, in stream order, as Algorithm R does.
class BlockDraws final : public Draws {
 public:
  explicit BlockDraws(std::uint64_t seed, std::uint32_t stream = 0)
      : rng_(seed, stream), seed_(seed), stream_(stream) {}

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) override {
    if (index != 0) return rng_.below(bound, position, index);
    if (position - first_ >= filled_) fill(position);
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(bits_[position - first_]) * bound;
    // Where Rng::below might reject it decides itself.
    if (static_cast<std::uint64_t>(product) < bound) return rng_.below(bound, position, index);
    return static_cast<std::uint64_t>(product >> 64);
  }

  double uniform(Position position, std::uint32_t index) override {
    return rng_.uniform(position, index);
  }

 private:
  void fill(Position position) {
    first_ = position;
    filled_ = static_cast<Position>(bits_.size());
    philox_sixteen({.seed = seed_, .stream = stream_, .first = position}, bits_);
  }

  Rng rng_;
  std::uint64_t seed_;
  std::uint32_t stream_;
  Position first_ = 0;   // the position of bits_[0]
  Position filled_ = 0;  // how many of bits_ are computed
  std::array<std::uint64_t, 16> bits_{};
};

}  // namespace kv::properties
