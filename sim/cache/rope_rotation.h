// Rotary position embedding as policies see it: base/rotation.h implemented with sim/cache/rope.h.
#pragma once

#include <vector>

#include "kvcheck/base/rotation.h"
#include "kvcheck/sim/cache/rope.h"

namespace kv {

class RopeRotation final : public Rotation {
 public:
  // With the plain frequencies of the embedding.
  explicit RopeRotation(const Rope& rope);

  // With frequencies of the caller, in radians per position: one per pair of `rope`.
  RopeRotation(const Rope& rope, std::vector<double> frequencies);

  // Computed in double. The mean of many rotations is a geometric series with a closed form, so the
  // cost does not grow with their number.
  void mean_rotations(Position first,
                      std::size_t count,
                      std::vector<PairRotation>& rotations) const override;

 private:
  Rope rope_;
  std::vector<double> frequencies_;  // [pairs]
};

}  // namespace kv
