#include "sim/rope.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace kv {

RopeTable::RopeTable(const Rope& rope, std::size_t positions)
    : rope_(rope), pairs_(rope.layout == RopeLayout::none ? 0 : rope.dims / 2) {
  cosines_.resize(positions * pairs_);
  sines_.resize(positions * pairs_);
  for (std::size_t pair = 0; pair < pairs_; ++pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rope.dims);
    const double frequency = std::pow(rope.theta, exponent);
    for (std::size_t position = 0; position < positions; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      cosines_[position * pairs_ + pair] = static_cast<float>(std::cos(angle));
      sines_[position * pairs_ + pair] = static_cast<float>(std::sin(angle));
    }
  }
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
