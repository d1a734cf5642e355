#include "kvcheck/sim/replay/top_k.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {
namespace {

// The number of parts whose maxima Kernels::lane_maxima computes.
constexpr std::size_t parts = 32;
static_assert(parts <= most_candidates);

// Keys that are ordered like their values, which are >= 0. Among equal values the lower index has
// the higher key.
std::uint64_t key_of(float value, Position at) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);  // -0 becomes 0
  return std::uint64_t{bits} << 32 | (~at & 0xFFFFFFFFU);
}

}  // namespace

std::span<const Position> TopK::find(std::span<const float> values) {
  if (k_ == 0) return {};
  find_largest(values);
  std::erase_if(found_, [values](Position at) { return values[at] == 0; });
  return found_;
}

void TopK::find_largest(std::span<const float> values) {
  const std::size_t n = values.size();
  if (n <= k_) {
    found_.resize(n);
    std::iota(found_.begin(), found_.end(), Position{0});
    return;
  }
  // Kernels write whole vectors, up to 16 entries beyond the last index.
  if (at_.size() < n + 16) at_.resize(2 * n + 16);
  const auto candidates = [&](float bound) {
    return kernels().at_least(values.data(), n, bound, at_.data());
  };
  std::size_t count = candidates(bound_by_last(values));
  // The last answer is a poor guide if attention moved. The maxima need a second scan of the row.
  if (count > 4 * k_ && k_ <= parts) count = candidates(bound_by_parts(values));
  if (count > most_candidates) {
    return keep_largest(values, {at_.data(), count});
  }
  found_.resize(count);
  found_.resize(kernels().largest(values.data(), at_.data(), count, k_, found_.data()));
}

// At least the k entries of the last answer reach the smallest of their values in this row.
float TopK::bound_by_last(std::span<const float> values) const {
  if (found_.size() != k_ || found_.back() >= values.size()) return 0;
  float bound = values[found_[0]];
  for (const Position at : found_) bound = std::min(bound, values[at]);
  return bound;
}

// The parts' maxima are entries of the row, so at least k entries reach the k-th largest of them.
float TopK::bound_by_parts(std::span<const float> values) const {
  std::array<float, parts> maxima{};
  kernels().lane_maxima(values.data(), values.size(), maxima.data());
  std::array<Position, parts> numbers{};
  std::iota(numbers.begin(), numbers.end(), Position{0});
  std::array<Position, parts> found{};
  kernels().largest(maxima.data(), numbers.data(), parts, k_, found.data());
  float bound = maxima[found[0]];
  for (std::size_t i = 1; i < k_; ++i) bound = std::min(bound, maxima[found[i]]);
  return bound;
}

// Stores the indices of the k largest values among `enough` indices, of which there are at least k.
void TopK::keep_largest(std::span<const float> values, std::span<const Position> enough) {
  KV_CHECK(enough.size() >= k_);
  keys_.clear();
  for (const Position at : enough) keys_.push_back(key_of(values[at], at));
  const auto kth = keys_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
  std::nth_element(keys_.begin(), kth, keys_.end(), std::greater());
  const std::uint64_t least = *kth;
  found_.clear();
  for (const Position at : enough) {
    if (key_of(values[at], at) >= least) found_.push_back(at);
  }
}

}  // namespace kv
