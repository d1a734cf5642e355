#include "kvcheck/model/attention/rope_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace kv::model {

RopeCache::RopeCache(const Rope& rope, std::vector<double> frequencies)
    : rope_(rope), frequencies_(std::move(frequencies)) {
  reserve(256);
}

void RopeCache::reserve(std::size_t positions) {
  if (positions <= rows()) return;
  const std::size_t rows = std::bit_ceil(positions);
  // Every position has another row from now on, so nothing that is held can be found again.
  held_.assign(rows, 0);
  cosines_.resize(rows * frequencies_.size());
  sines_.resize(rows * frequencies_.size());
}

void RopeCache::make_room() {
  if (++displaced_ < rows()) return;
  // A window that moves on displaces one position for each token, and finds the others in place.
  const bool often = lookups_ < 8 * displaced_;
  displaced_ = 0;
  lookups_ = 0;
  const std::size_t row_bytes = 2 * sizeof(float) * frequencies_.size() + sizeof(std::uint64_t);
  if (often && 2 * rows() * row_bytes <= most_bytes) reserve(2 * rows());
}

void RopeCache::rotate(const float* in, std::size_t head_dim, Position position, float* out) {
  const std::size_t pairs = frequencies_.size();
  const std::uint64_t requested = std::uint64_t{position} + 1;
  const std::uint64_t there = held_[position & (rows() - 1)];
  ++lookups_;
  if (there != 0 && there != requested) make_room();
  const std::size_t row = position & (rows() - 1);
  float* cosines = cosines_.data() + row * pairs;
  float* sines = sines_.data() + row * pairs;
  if (held_[row] != requested) {
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      rope_angle(frequencies_[pair], position, cosines[pair], sines[pair]);
    }
    held_[row] = requested;
  }
  rotate_pairs(rope_, {cosines, pairs}, sines, in, head_dim, out);
}

}  // namespace kv::model
