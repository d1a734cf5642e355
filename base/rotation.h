// How positions rotate vectors, for code that knows neither models nor traces, such as policies.
//
// Rotary position embedding rotates pairs of a head's channels. Each pair has an angle of its own,
// which grows with the position (sim/cache/rope.h). A caller that passes keys and queries before
// rotation passes a Rotation with them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// The rotation of two channels of a head: x becomes x cosine - y sine, and y becomes x sine + y
// cosine. In a mean over several positions cosine^2 + sine^2 is less than 1.
struct PairRotation {
  std::size_t x = 0;
  std::size_t y = 0;
  double cosine = 1;
  double sine = 0;
};

// Rotates a head's vector in place or, if `backwards`, multiplies it with the transpose. Channels
// that no pair names are not changed. Requires channels below numbers.size().
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

  // Writes the rotations averaged over the positions first ... first + count - 1, one entry per
  // pair. Requires count >= 1. Cost: O(pairs), independent of the count.
  virtual void mean_rotations(Position first,
                              std::size_t count,
                              std::vector<PairRotation>& rotations) const = 0;
};

}  // namespace kv
