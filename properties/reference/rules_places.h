// Parts of the rules that look at vectors after rotation. Private to properties/reference.
#pragma once

#include <cmath>
#include <map>
#include <vector>

#include "kvcheck/properties/reference/rules_detail.h"

namespace kv::properties {

// The angle by which each channel's pair rotates from place to place.
inline double rotation_of(std::size_t channel) {
  return channel < 2 ? 1 : 0.01;
}

// The mean rotation of `count` places, from `place` downwards: of each pair its cosine and sine.
inline vectors::Vector mean_rotation(double place, std::size_t count) {
  vectors::Vector rotate(input_dim);
  for (std::size_t i = 0; i < input_dim; i += 2) {
    for (std::size_t back = 0; back < count; ++back) {
      const double angle = (place - static_cast<double>(back)) * rotation_of(i);
      rotate[i] += std::cos(angle) / static_cast<double>(count);
      rotate[i + 1] += std::sin(angle) / static_cast<double>(count);
    }
  }
  return rotate;
}

inline vectors::Vector rotated(const vectors::Vector& vector, const vectors::Vector& rotate) {
  vectors::Vector out(input_dim);
  for (std::size_t i = 0; i < input_dim; i += 2) {
    out[i] = vector[i] * rotate[i] - vector[i + 1] * rotate[i + 1];
    out[i + 1] = vector[i] * rotate[i + 1] + vector[i + 1] * rotate[i];
  }
  return out;
}

// Knows where residents stand: at their positions or at their ranks.
class ScoredByPlace : public ScoredByContent {
 public:
  explicit ScoredByPlace(const Spec& spec) : at_ranks_(are_ranks(spec.positions)) {}

 protected:
  [[nodiscard]] double place_of(Position p) const {
    if (!at_ranks_) return p;
    return static_cast<double>(std::distance(keys_.begin(), keys_.find(p)));
  }

  // The place of the next token.
  [[nodiscard]] double next_place() const {
    return static_cast<double>(at_ranks_ ? keys_.size() : queries_.size());
  }

 private:
  bool at_ranks_;
};

// Knows keys as caches store them: rotated to their places and rounded to floats, or before
// rotation.
class ScoredByKeys : public ScoredByPlace {
 public:
  explicit ScoredByKeys(const Spec& spec)
      : ScoredByPlace(spec), rotated_(spec.options.at("scores") == "rotated") {
    ties_are_doubtful_ = rotated_;
  }

 protected:
  std::vector<Position> selected(const Choice& choice, Draws& draws) override {
    compared_ = keys_;
    for (auto& [p, keys] : compared_) {
      for (vectors::Vector& key : keys) {
        if (!rotated_) continue;
        key = rotated(key, mean_rotation(place_of(p), 1));
        for (double& number : key) number = static_cast<double>(static_cast<float>(number));
      }
    }
    return ScoredByPlace::selected(choice, draws);
  }

  [[nodiscard]] bool are_rotated() const { return rotated_; }

  std::map<Position, std::vector<vectors::Vector>> compared_;  // of all residents

 private:
  bool rotated_;
};

}  // namespace kv::properties
