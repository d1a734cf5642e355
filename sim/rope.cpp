#include "sim/rope.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace kv {
namespace {

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

}  // namespace

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
      const double angle = static_cast<double>(position) * frequencies_[pair];
      cosines_[position * pairs_ + pair] = static_cast<float>(std::cos(angle));
      sines_[position * pairs_ + pair] = static_cast<float>(std::sin(angle));
    }
  }
  positions_ = positions;
}

void RopeTable::rotate(const float* in, std::size_t head_dim, Position position, float* out) const {
  std::copy_n(in, head_dim, out);
  if (pairs_ == 0) return;
  KV_CHECK(position * pairs_ < cosines_.size());
  const bool interleaved = rope_.layout == RopeLayout::interleaved;
  const std::size_t stride = interleaved ? 2 : 1;
  const std::size_t partner = interleaved ? 1 : pairs_;
  const float* cosine = cosines_.data() + position * pairs_;
  const float* sine = sines_.data() + position * pairs_;
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    const float x = in[pair * stride];
    const float y = in[pair * stride + partner];
    out[pair * stride] = x * cosine[pair] - y * sine[pair];
    out[pair * stride + partner] = x * sine[pair] + y * cosine[pair];
  }
}

}  // namespace kv
