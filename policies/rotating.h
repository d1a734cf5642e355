// Rotating: a policy that looks at keys and queries as they stand after rotation.
//
// Observations bring vectors before rotation (policies/policy.h). A policy that is a Rotating too
// is told, before it observes anything, how a place turns them: see base/rotation.h. A place is a
// token's position in the stream, or, in a cache that closes the gaps of evictions, its rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/rotation.h"

namespace kv {

class Rotating {
 public:
  virtual ~Rotating() = default;

  // Null: nothing turns. What it points to outlives the policy and its clones. Places are ranks
  // where `at_ranks`.
  void rotate_by(const Rotation* rotation, bool at_ranks) {
    rotation_ = rotation;
    at_ranks_ = at_ranks;
  }

 protected:
  Rotating() = default;
  Rotating(const Rotating&) = default;
  Rotating& operator=(const Rotating&) = default;

  [[nodiscard]] const Rotation* rotation() const { return rotation_; }

  // Turns the vectors of a token's heads, one after another, as if they stood at a place.
  void rotate_to(Position place, std::size_t dim, std::span<float> heads) const {
    if (rotation_ == nullptr) return;
    rotation_->mean_rotations(place, 1, rotations_);
    for (std::size_t at = 0; at < heads.size(); at += dim) {
      rotate_pairs<float>(rotations_, false, heads.subspan(at, dim));
    }
  }

  [[nodiscard]] bool at_ranks() const { return at_ranks_; }

 private:
  const Rotation* rotation_ = nullptr;
  bool at_ranks_ = false;
  mutable std::vector<PairRotation> rotations_;  // scratch
};

}  // namespace kv
