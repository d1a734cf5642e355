// What positions turn under rotary position embedding, for policies: base/rotation.h over
// sim/cache/rope.h.
#pragma once

#include <vector>

#include "kvcheck/base/rotation.h"
#include "kvcheck/sim/cache/rope.h"

namespace kv {

class RopeRotation final : public Rotation {
 public:
  // Turns per position as the embedding has them by itself.
  explicit RopeRotation(const Rope& rope);

  // The same with turns per position, in radians, of the caller's: one per pair of `rope`.
  RopeRotation(const Rope& rope, std::vector<double> frequencies);

  // In double precision. The mean of many turns is a finite sum of a geometric series, so that its
  // cost does not grow with their number.
  void mean_rotations(Position first,
                      std::size_t count,
                      std::vector<PairRotation>& rotations) const override;

 private:
  Rope rope_;
  std::vector<double> frequencies_;  // [pairs]
};

}  // namespace kv
