#include "policies/by_rank.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/kernels.h"

namespace kv {
namespace {

std::size_t first_lowest(std::span<const float> scores) {
  return kernels().argmin(scores.data(), scores.size());
}

// Four running minima, because one would make every comparison wait for the last.
std::size_t first_lowest(std::span<const double> scores) {
  const double* const from = scores.data();
  const std::size_t n = scores.size();
  double a = std::numeric_limits<double>::infinity();
  double b = a;
  double c = a;
  double d = a;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    a = from[i] < a ? from[i] : a;
    b = from[i + 1] < b ? from[i + 1] : b;
    c = from[i + 2] < c ? from[i + 2] : c;
    d = from[i + 3] < d ? from[i + 3] : d;
  }
  for (; i < n; ++i) a = std::min(a, from[i]);
  const double lowest = std::min(std::min(a, b), std::min(c, d));
  return static_cast<std::size_t>(std::find(from, from + n, lowest) - from);
}

template <typename Score>
void append_lowest_of(std::span<const Score> scores,
                      std::size_t count,
                      std::vector<std::size_t>& victims) {
  KV_CHECK(count <= scores.size());
  if (count == 0) return;
  if (count == 1) {
    victims.push_back(first_lowest(scores));
    KV_CHECK(victims.back() < scores.size());
    return;
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto goes_before = [scores](std::size_t a, std::size_t b) {
    return scores[a] < scores[b] || (scores[a] == scores[b] && a < b);
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  if (count < order.size()) std::nth_element(order.begin(), end, order.end(), goes_before);
  std::sort(order.begin(), end);
  victims.insert(victims.end(), order.begin(), end);
}

}  // namespace

void append_lowest(std::span<const float> scores,
                   std::size_t count,
                   std::vector<std::size_t>& victims) {
  append_lowest_of(scores, count, victims);
}

void append_lowest(std::span<const double> scores,
                   std::size_t count,
                   std::vector<std::size_t>& victims) {
  append_lowest_of(scores, count, victims);
}

void add_mass(std::span<double> sums, std::span<const float> mass) {
  const std::size_t n = mass.size();
  KV_CHECK(sums.size() == n);
  double* const into = sums.data();
  const float* const from = mass.data();
  for (std::size_t i = 0; i < n; ++i) into[i] += static_cast<double>(from[i]);
}

}  // namespace kv
