#include "kvcheck/policies/parts/by_rank.h"

#include <algorithm>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {
namespace {

std::size_t first_lowest(std::span<const float> scores) {
  return kernels().argmin(scores.data(), scores.size());
}

std::size_t first_lowest(std::span<const double> scores) {
  return kernels().argmin_double(scores.data(), scores.size());
}

template <typename Score>
void append_lowest_of(std::span<const Score> scores,
                      std::size_t count,
                      std::vector<std::size_t>& victims) {
  KV_CHECK(count <= scores.size());
  if (count == 0) return;
  // The usual case token by token. The kernel returns the first of equal values, the older token.
  if (count == 1) {
    victims.push_back(first_lowest(scores));
    KV_CHECK(victims.back() < scores.size());
    return;
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // A strict order, so that nth_element gives the same victims with every library. As for the
  // kernel, a NaN is larger than every number.
  const auto is_evicted_before = [scores](std::size_t a, std::size_t b) {
    if (scores[a] < scores[b]) return true;
    if (scores[b] < scores[a]) return false;
    const bool a_is_number = scores[a] == scores[a];
    const bool b_is_number = scores[b] == scores[b];
    return a_is_number != b_is_number ? a_is_number : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  if (count < order.size()) std::nth_element(order.begin(), end, order.end(), is_evicted_before);
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

void append_lowest_blocks(std::span<const double> scores,
                          std::size_t length,
                          std::size_t rest,
                          std::size_t capacity,
                          std::vector<std::size_t>& victims) {
  // The rest is kept first, so only the remaining capacity is divided among blocks.
  const std::size_t fitting = rest < capacity ? (capacity - rest) / length : 0;
  std::vector<std::size_t> leaving;
  append_lowest(scores, scores.size() - std::min(scores.size(), fitting), leaving);
  for (const std::size_t block : leaving) {
    for (std::size_t i = 0; i < length; ++i) victims.push_back(block * length + i);
  }
}

void score_newcomers_lowest(std::size_t n, std::size_t newcomers, std::vector<double>& scores) {
  scores.assign(n, 1);
  std::fill(scores.end() - static_cast<std::ptrdiff_t>(newcomers), scores.end(), 0);
}

void add_mass(std::span<double> sums, std::span<const float> mass) {
  KV_CHECK(sums.size() == mass.size());
  kernels().add_to_double(sums.data(), mass.data(), mass.size());
}

}  // namespace kv
