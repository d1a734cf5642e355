#include "kvcheck/sim/cache/rope.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv {

std::size_t pairs_of(const Rope& rope) {
  return rope.layout == RopeLayout::none ? 0 : rope.dims / 2;
}

std::vector<double> plain_frequencies(const Rope& rope) {
  std::vector<double> frequencies(pairs_of(rope));
  for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rope.dims);
    frequencies[pair] = std::pow(rope.theta, exponent);
  }
  return frequencies;
}

void rope_angle(double frequency, Position position, float& cosine, float& sine) {
  // In double: at large positions a float angle would be wrong by a visible part of a rotation.
  const double angle = static_cast<double>(position) * frequency;
  cosine = static_cast<float>(std::cos(angle));
  sine = static_cast<float>(std::sin(angle));
}

void rotate_pairs(const Rope& rope,
                  std::span<const float> cosines,
                  const float* sines,
                  const float* in,
                  std::size_t head_dim,
                  float* out) {
  // Models may rotate only a part of the dimensions; the others are copied.
  std::copy_n(in, head_dim, out);
  const std::size_t pairs = cosines.size();
  const bool interleaved = rope.layout == RopeLayout::interleaved;
  const std::size_t stride = interleaved ? 2 : 1;
  const std::size_t partner = interleaved ? 1 : pairs;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const float x = in[pair * stride];
    const float y = in[pair * stride + partner];
    out[pair * stride] = x * cosines[pair] - y * sines[pair];
    out[pair * stride + partner] = x * sines[pair] + y * cosines[pair];
  }
}

RopeTable::RopeTable(const Rope& rope, std::size_t positions)
    : RopeTable(rope, plain_frequencies(rope), positions) {}

RopeTable::RopeTable(const Rope& rope, std::vector<double> frequencies, std::size_t positions)
    : rope_(rope), pairs_(pairs_of(rope)), frequencies_(std::move(frequencies)) {
  KV_CHECK(frequencies_.size() == pairs_);
  grow(positions);
}

void RopeTable::grow(std::size_t positions) {
  if (positions <= positions_) return;
  cosines_.resize(positions * pairs_);
  sines_.resize(positions * pairs_);
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    for (std::size_t position = positions_; position < positions; ++position) {
      const std::size_t at = position * pairs_ + pair;
      rope_angle(frequencies_[pair], static_cast<Position>(position), cosines_[at], sines_[at]);
    }
  }
  positions_ = positions;
}

void RopeTable::rotate(const float* in, std::size_t head_dim, Position position, float* out) const {
  KV_CHECK(pairs_ == 0 || position * pairs_ < cosines_.size());
  const std::size_t at = pairs_ == 0 ? 0 : position * pairs_;
  rotate_pairs(rope_, {cosines_.data() + at, pairs_}, sines_.data() + at, in, head_dim, out);
}

void RopeTable::rotate_back(const float* in,
                            std::size_t head_dim,
                            Position position,
                            float* out) const {
  KV_CHECK(pairs_ == 0 || position * pairs_ < cosines_.size());
  const std::size_t at = pairs_ == 0 ? 0 : position * pairs_;
  std::vector<float> sines(sines_.data() + at, sines_.data() + at + pairs_);
  for (float& sine : sines) sine = -sine;
  rotate_pairs(rope_, {cosines_.data() + at, pairs_}, sines.data(), in, head_dim, out);
}

}  // namespace kv
