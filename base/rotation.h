// How positions turn vectors, for those who know neither models nor traces: policies.
//
// Rotary position embedding turns pairs of a head's channels, each by an angle of its own that
// grows with the position (sim/cache/rope.h). Who brings keys and queries before rotation brings this
// too.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// What happens to two channels of a head: the one becomes x cosine - y sine, the other x sine + y
// cosine. Of a mean over positions, where cosine^2 + sine^2 is less than 1.
struct PairTurn {
  std::size_t x = 0;
  std::size_t y = 0;
  double cosine = 1;
  double sine = 0;
};

// Turns a head's vector in place, or, backwards, multiplies it with the transpose. Channels that no
// pair names stay. Requires channels below numbers.size().
template <typename Number>
void turn_pairs(std::span<const PairTurn> turns, bool backwards, std::span<Number> numbers) {
  for (const PairTurn& turn : turns) {
    const auto x = static_cast<double>(numbers[turn.x]);
    const auto y = static_cast<double>(numbers[turn.y]);
    const double sine = backwards ? -turn.sine : turn.sine;
    numbers[turn.x] = static_cast<Number>(x * turn.cosine - y * sine);
    numbers[turn.y] = static_cast<Number>(x * sine + y * turn.cosine);
  }
}

class Rotation {
 public:
  Rotation() = default;
  Rotation(const Rotation&) = delete;
  Rotation& operator=(const Rotation&) = delete;
  virtual ~Rotation() = default;

  // The turns of the positions first ... first + count - 1, averaged; one entry per pair. Requires
  // count >= 1. Cost: O(pairs), whatever the count.
  virtual void mean_turns(Position first,
                          std::size_t count,
                          std::vector<PairTurn>& turns) const = 0;
};

}  // namespace kv
