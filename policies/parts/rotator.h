// Rotator: the arguments of Policy::rotate_by, stored by policies that compare keys and queries
// after rotation. Observations hold these vectors before rotation.
//
// A rotary position is a token's position in the stream or, in a cache that closes the gaps of
// evictions, its rank (base/rotation.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/rotation.h"

namespace kv {

class Rotator {
 public:
  Rotator() = default;

  Rotator(const Rotation* rotation, bool at_ranks) : rotation_(rotation), at_ranks_(at_ranks) {}

  // Null if nothing rotates.
  [[nodiscard]] const Rotation* rotation() const { return rotation_; }

  // Whether rotary positions are ranks, which change with every eviction.
  [[nodiscard]] bool at_ranks() const { return at_ranks_; }

  // Rotates the vectors of a token's heads, one after another, to a rotary position.
  void rotate_to(Position place, std::size_t dim, std::span<float> heads) const {
    if (rotation_ == nullptr) return;
    rotation_->mean_rotations(place, 1, rotations_);
    for (std::size_t at = 0; at < heads.size(); at += dim) {
      rotate_pairs<float>(rotations_, false, heads.subspan(at, dim));
    }
  }

 private:
  const Rotation* rotation_ = nullptr;
  bool at_ranks_ = false;
  mutable std::vector<PairRotation> rotations_;  // scratch
};

}  // namespace kv
