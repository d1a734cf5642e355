#include "kvcheck/properties/statistics/independence.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kvcheck/base/check.h"

namespace kv::properties {
namespace {

// Of the overlap of two independent sets: its mean, its variance, and the covariance of two
// overlaps that have one set in common.
struct OverlapLaw {
  double mean = 0;
  double variance = 0;
  double common = 0;
};

OverlapLaw overlap_law(ChanceLaw law, const Shape& shape) {
  const std::vector<double> shares = inclusions(law, shape);
  OverlapLaw overlap;
  for (std::uint32_t j = 0; j < shape.n; ++j) {
    const double square = shares[j] * shares[j];
    overlap.mean += square;
    overlap.variance += square;
    overlap.common += square * shares[j];
    for (std::uint32_t i = 0; i < j; ++i) {
      const double both = pair_inclusion(law, shape, i, j);
      overlap.variance += 2 * both * both;
      overlap.common += 2 * shares[i] * shares[j] * both;
    }
  }
  overlap.variance -= overlap.mean * overlap.mean;
  overlap.common -= overlap.mean * overlap.mean;
  return overlap;
}

}  // namespace

Overlaps::Overlaps(const Shape& shape, std::uint32_t members)
    : shape_(shape), members_(members), holders_(shape.n) {
  KV_CHECK(members >= 2);
}

void Overlaps::add(std::span<const std::vector<std::uint32_t>> sets) {
  KV_CHECK(sets.size() == members_);
  std::fill(holders_.begin(), holders_.end(), 0);
  for (const std::vector<std::uint32_t>& set : sets) {
    // Each earlier holder of a token makes one more pair that shares it.
    for (const std::uint32_t token : set) shared_ += holders_[token]++;
  }
  ++groups_;
}

ChanceTest independence_test(const Overlaps& overlaps, ChanceLaw law, std::string_view between) {
  KV_CHECK(overlaps.groups() > 0);
  const OverlapLaw overlap = overlap_law(law, overlaps.shape());
  const auto groups = static_cast<double>(overlaps.groups());
  const auto members = static_cast<double>(overlaps.members());
  const double pairs = members * (members - 1) / 2;
  // Pairs with one set in common are correlated: each pair has 2 (members - 2) such neighbours.
  const double variance =
      groups * (pairs * overlap.variance + 2 * pairs * (members - 2) * overlap.common);
  const double excess = static_cast<double>(overlaps.shared()) - groups * pairs * overlap.mean;

  ChanceTest test{
      {.name = "Z", .what = "overlap of what different " + std::string(between) + " keep"}};
  Statistic& statistic = test.statistic;
  statistic.value = excess / std::sqrt(variance);
  statistic.p = normal_tail(statistic.value);
  // Overlap between the mean and k, which copies have, as a correlation.
  const double whole = groups * pairs * (static_cast<double>(overlaps.shape().k) - overlap.mean);
  const double correlation = excess / whole;
  test.per_root = std::sqrt(variance) / whole;
  statistic.effect_low = correlation - 1.96 * test.per_root;
  statistic.effect_high = correlation + 1.96 * test.per_root;
  statistic.effect = "two " + std::string(between) + " agree with correlation " +
                     number_text(correlation) + " instead of 0 (" +
                     number_text(statistic.effect_low) + " to " +
                     number_text(statistic.effect_high) + ")";
  return test;
}

}  // namespace kv::properties
