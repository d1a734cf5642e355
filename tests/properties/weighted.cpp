#include "kvcheck/tests/properties/weighted.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

std::vector<std::uint32_t> members_of(std::uint32_t bits) {
  std::vector<std::uint32_t> set;
  for (std::uint32_t i = 0; i < 32; ++i) {
    if ((bits >> i & 1U) != 0) set.push_back(i);
  }
  return set;
}

// Chance of each set of drawn tokens, one draw after another.
std::vector<double> sequential_subsets(std::span<const double> weights, std::uint32_t k) {
  const auto n = static_cast<std::uint32_t>(weights.size());
  std::vector<double> result(subset_count({n, k}));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> chance(std::size_t{1} << n);
  chance[0] = 1;
  // Adding a member makes a larger number, so that every set is final when it is met.
  for (std::uint32_t bits = 0; bits < chance.size(); ++bits) {
    const auto size = static_cast<std::uint32_t>(std::popcount(bits));
    if (size == k) result[subset_index(members_of(bits))] = chance[bits];
    if (size >= k) continue;
    double left = total;
    for (const std::uint32_t i : members_of(bits)) left -= weights[i];
    for (std::uint32_t i = 0; i < n; ++i) {
      if ((bits >> i & 1U) == 0) chance[bits | 1U << i] += chance[bits] * weights[i] / left;
    }
  }
  return result;
}

// Chao's method token by token: the newcomer enters with its inclusion, and each elder leaves with
// what the newcomer takes from its own.
std::vector<double> proportional_subsets(std::span<const double> weights, std::uint32_t k) {
  const auto n = static_cast<std::uint32_t>(weights.size());
  std::vector<double> chance(std::size_t{1} << n);
  chance[(std::size_t{1} << k) - 1] = 1;
  std::vector<double> before(k, 1.0);
  for (std::uint32_t t = k; t < n; ++t) {
    const std::vector<double> now = proportional_inclusions(weights.first(t + 1), k);
    std::vector<double> after(chance.size());
    for (std::uint32_t bits = 0; bits < (1U << t); ++bits) {
      if (chance[bits] <= 0) continue;
      double enters = 0;
      for (const std::uint32_t i : members_of(bits)) {
        const double leaves = 1 - now[i] / before[i];
        after[(bits & ~(1U << i)) | 1U << t] += chance[bits] * leaves;
        enters += leaves;
      }
      after[bits] += chance[bits] * (1 - enters);
    }
    chance = std::move(after);
    before = now;
  }
  std::vector<double> result(subset_count({n, k}));
  for (std::uint32_t bits = 0; bits < chance.size(); ++bits) {
    if (static_cast<std::uint32_t>(std::popcount(bits)) == k) {
      result[subset_index(members_of(bits))] = std::max(0.0, chance[bits]);
    }
  }
  return result;
}

}  // namespace

std::vector<double> proportional_inclusions(std::span<const double> weights, std::uint32_t k) {
  std::vector<bool> sure(weights.size(), false);
  std::vector<double> shares(weights.size(), 1.0);
  double places = k;
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  // A token that would exceed 1 is kept surely; that leaves less for the rest, of which another may
  // exceed 1 in turn.
  for (bool changed = true; changed;) {
    changed = false;
    const double share = places / total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (sure[i] || weights[i] * share < 1) continue;
      sure[i] = true;
      changed = true;
      places -= 1;
      total -= weights[i];
    }
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!sure[i]) shares[i] = weights[i] * places / total;
  }
  return shares;
}

std::vector<double> weighted_subsets(WeightedLaw law,
                                     std::span<const double> weights,
                                     std::uint32_t k) {
  KV_CHECK(k >= 1 && k < weights.size() && weights.size() <= 16);
  for (const double weight : weights) KV_CHECK(weight > 0);
  return law == WeightedLaw::sequential ? sequential_subsets(weights, k)
                                        : proportional_subsets(weights, k);
}

std::optional<ChanceTest> weighted_test(const Counts& counts, std::span<const double> subsets) {
  KV_CHECK(counts.subsets().size() == subsets.size());
  const auto streams = static_cast<double>(counts.streams());
  ChanceTest test;
  Statistic& statistic = test.statistic;
  statistic.name = "weighted";
  statistic.what = "each kept set against the law of the weights";
  double pooled = 0;
  double pooled_hits = 0;
  double bins = 0;
  const auto add = [&](double expected, double hits) {
    statistic.value += (hits - expected) * (hits - expected) / expected;
    ++bins;
  };
  for (std::size_t s = 0; s < subsets.size(); ++s) {
    const double expected = streams * subsets[s];
    const auto hits = static_cast<double>(counts.subsets()[s]);
    if (expected <= 0 && hits > 0) {
      statistic.p = 0;
      statistic.effect = "a set that the law never keeps was kept";
      return test;
    }
    if (expected >= 10) {
      add(expected, hits);
    } else {
      pooled += expected;
      pooled_hits += hits;
    }
  }
  if (pooled >= 10) add(pooled, pooled_hits);
  if (bins < 2) return std::nullopt;
  statistic.freedom = bins - 1;
  statistic.p = chi_square_tail(statistic.value, statistic.freedom);
  test.per_root = 1 / std::sqrt(streams);
  return test;
}

}  // namespace kv::properties
