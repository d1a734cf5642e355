#include "sim/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/kernels.h"

namespace kv {

std::span<const Position> TopK::find(std::span<const float> values) {
  if (values.size() <= k_ || k_ == 0) {
    found_.resize(k_ == 0 ? 0 : values.size());
    std::iota(found_.begin(), found_.end(), Position{0});
    return found_;
  }
  // At least as many entries as the last answer has reach the smallest value among them.
  float threshold = -std::numeric_limits<float>::infinity();
  if (found_.size() == k_ && found_.back() < values.size()) {
    threshold = std::numeric_limits<float>::infinity();
    for (const Position at : found_) threshold = std::min(threshold, values[at]);
  }
  // next_above is strict, and ties with the threshold must be seen: compare with the next float
  // down.
  const float below = std::nextafter(threshold, -std::numeric_limits<float>::infinity());
  above_.clear();
  for (std::size_t i = 0;; ++i) {
    i = kernels().next_above(values.data(), i, values.size(), below);
    if (i >= values.size()) break;
    above_.push_back(static_cast<Position>(i));
  }
  const auto larger = [&](Position a, Position b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  };
  const auto kth = above_.begin() + static_cast<std::ptrdiff_t>(k_);
  std::nth_element(above_.begin(), kth - 1, above_.end(), larger);
  found_.assign(above_.begin(), kth);
  std::ranges::sort(found_);
  return found_;
}

}  // namespace kv
