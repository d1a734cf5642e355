// Rotator: the arguments of Policy::rotate_by, stored by policies that compare keys and queries
// after rotation. Observations hold these vectors before rotation.
//
// A rotary position is a token's position in the stream or, in a cache that closes the gaps of
// evictions, its rank (base/rotation.h).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/base/position.h"
#include "kvcheck/base/rotation.h"
#include "kvcheck/policies/entry.h"

namespace kv {

class Rotator {
 public:
  Rotator() = default;

  Rotator(const Rotation* rotation, bool at_ranks) : rotation_(rotation), at_ranks_(at_ranks) {}

  // Null if nothing rotates.
  [[nodiscard]] const Rotation* rotation() const { return rotation_; }

  // Whether rotary positions are ranks, which change with every eviction.
  [[nodiscard]] bool at_ranks() const { return at_ranks_; }

  // Whether evictions change rotated vectors.
  [[nodiscard]] bool moves() const { return at_ranks_ && rotation_ != nullptr; }

  // Rotates the vectors of a token's heads, one after another, to a rotary position.
  void rotate_to(Position place, std::size_t dim, std::span<float> heads) const {
    if (rotation_ == nullptr) return;
    rotation_->mean_rotations(place, 1, rotations_);
    for (std::size_t at = 0; at < heads.size(); at += dim) {
      rotate_pairs<float>(rotations_, false, heads.subspan(at, dim));
    }
  }

  // Rotates the heads of each resident to its rank. `rows` are [residents, width] by rank, of which
  // the first `rotated` numbers of a row are vectors of `dim`. Cost: O(rows).
  void rotate_to_ranks(std::size_t dim,
                       std::size_t width,
                       std::size_t rotated,
                       std::span<float> rows) const {
    for (std::size_t rank = 0; rank * width < rows.size(); ++rank) {
      rotate_to(static_cast<Position>(rank), dim, rows.subspan(rank * width, rotated));
    }
  }

 private:
  const Rotation* rotation_ = nullptr;
  bool at_ranks_ = false;
  mutable std::vector<PairRotation> rotations_;  // scratch
};

// The parameter of policies that compare keys with keys.
inline constexpr auto key_scorings = std::array<std::string_view, 2>{"rotated", "raw"};
inline constexpr Parameter key_scores = {
    .name = "scores",
    .default_value = "rotated",
    .choices = key_scorings,
    .meaning = "whether keys are compared before rotation, or as rotated by position"};

inline bool scores_are_rotated(const Options& options) {
  return options.at("scores") == "rotated";
}

}  // namespace kv
