// How positions turn vectors, for those who know neither models nor traces: policies.
//
// Rotary position embedding turns pairs of a head's channels, each by an angle of its own that
// grows with the position (sim/cache/rope.h). Who brings keys and queries before rotation brings
// this too.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// What happens to two channels of a head: the one becomes x cosine - y sine, the other x sine + y
// cosine. Of a mean over positions, where cosine^2 + sine^2 is less than 1.
struct PairRotation {
  std::size_t x = 0;
  std::size_t y = 0;
  double cosine = 1;
  double sine = 0;
};

// Turns a head's vector in place, or, backwards, multiplies it with the transpose. Channels that no
// pair names stay. Requires channels below numbers.size().
template <typename Number>
void rotate_pairs(std::span<const PairRotation> rotations,
                  bool backwards,
                  std::span<Number> numbers) {
  for (const PairRotation& rotate : rotations) {
    const auto x = static_cast<double>(numbers[rotate.x]);
    const auto y = static_cast<double>(numbers[rotate.y]);
    const double sine = backwards ? -rotate.sine : rotate.sine;
    numbers[rotate.x] = static_cast<Number>(x * rotate.cosine - y * sine);
    numbers[rotate.y] = static_cast<Number>(x * sine + y * rotate.cosine);
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
  virtual void mean_rotations(Position first,
                              std::size_t count,
                              std::vector<PairRotation>& rotations) const = 0;
};

}  // namespace kv
