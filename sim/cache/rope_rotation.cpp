#include "kvcheck/sim/cache/rope_rotation.h"

#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv {
namespace {

// The length of the mean of `count` unit vectors whose angles are `frequency` apart (a Dirichlet
// kernel). Its direction is that of the middle angle.
double shortening(double frequency, std::size_t count) {
  const double half = frequency / 2;
  const auto n = static_cast<double>(count);
  if (count == 1 || std::sin(half) == 0) return 1;  // all vectors are equal
  return std::sin(n * half) / (n * std::sin(half));
}

}  // namespace

RopeRotation::RopeRotation(const Rope& rope) : RopeRotation(rope, plain_frequencies(rope)) {}

RopeRotation::RopeRotation(const Rope& rope, std::vector<double> frequencies)
    : rope_(rope), frequencies_(std::move(frequencies)) {
  KV_CHECK(frequencies_.size() == pairs_of(rope));
}

void RopeRotation::mean_rotations(Position first,
                                  std::size_t count,
                                  std::vector<PairRotation>& rotations) const {
  KV_CHECK(count >= 1);
  rotations.clear();
  const bool interleaved = rope_.layout == RopeLayout::interleaved;
  const std::size_t pairs = frequencies_.size();
  const double middle = static_cast<double>(first) + static_cast<double>(count - 1) / 2;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const double angle = middle * frequencies_[pair];
    const double share = shortening(frequencies_[pair], count);
    rotations.push_back({.x = interleaved ? 2 * pair : pair,
                         .y = interleaved ? 2 * pair + 1 : pair + pairs,
                         .cosine = std::cos(angle) * share,
                         .sine = std::sin(angle) * share});
  }
}

}  // namespace kv
