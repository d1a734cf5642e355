#include "kvcheck/reports/numbers/paired_shares.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "kvcheck/base/check.h"

namespace kv::reports {
namespace {

// The two means and how they vary together.
struct Shares {
  double a = 0;  // sums
  double b = 0;
  double correlation = 0;
  std::size_t items = 0;
};

Shares shares_of(std::span<const double> a, std::span<const double> b) {
  KV_CHECK(a.size() == b.size());
  Shares shares{.a = std::accumulate(a.begin(), a.end(), 0.0),
                .b = std::accumulate(b.begin(), b.end(), 0.0),
                .items = a.size()};
  const auto n = static_cast<double>(a.size());
  const double both = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  // Of right and wrong answers: the products of the numbers of equal and of unequal pairs.
  double together = n * both - shares.a * shares.b;
  if (together > 0) together = std::max(together - n / 2, 0.0);
  const double spread = shares.a * (n - shares.a) * shares.b * (n - shares.b);
  if (spread > 0) shares.correlation = std::clamp(together / std::sqrt(spread), -1.0, 1.0);
  return shares;
}

Interval difference_at(const Shares& shares, double z) {
  const Interval first = wilson_interval(shares.a, shares.items, z);
  const Interval second = wilson_interval(shares.b, shares.items, z);
  const auto joined = [&](double x, double y) {
    return std::sqrt(std::max(0.0, x * x - 2 * shares.correlation * x * y + y * y));
  };
  const double mean = first.mean - second.mean;
  return {.mean = mean,
          .low = mean - joined(first.mean - first.low, second.high - second.mean),
          .high = mean + joined(first.high - first.mean, second.mean - second.low)};
}

}  // namespace

Interval share_difference(std::span<const double> a, std::span<const double> b) {
  if (a.empty()) return {};
  return difference_at(shares_of(a, b), deviations_of_95);
}

Interval share_ratio(std::span<const double> a, std::span<const double> b) {
  const Shares shares = shares_of(a, b);
  if (shares.b == 0) return {};
  const Interval above = wilson_interval(shares.a, shares.items, deviations_of_95);
  const Interval below = wilson_interval(shares.b, shares.items, deviations_of_95);
  return {.mean = above.mean / below.mean,
          .low = above.low / below.high,
          .high = above.high / below.low};
}

PairedTest paired_share_test(std::span<const double> a, std::span<const double> b, double margin) {
  std::vector<double> differences(a.size());
  std::ranges::transform(a, b, differences.begin(), std::minus<>());
  PairedTest test = paired_test(differences, margin);
  test.difference = share_difference(a, b);
  if (a.size() < fewest_pairs) return test;
  if (test.detectable == 0) test.detectable = not_measured;
  test.outside_margin_p = 1;
  if (std::abs(test.difference.mean) >= margin) return test;
  const Shares shares = shares_of(a, b);
  double inside = 0;
  double outside = 38;  // beyond which the tail of a normal distribution is 0 as a double
  for (int step = 0; step < 60; ++step) {
    const double z = (inside + outside) / 2;
    const Interval limits = difference_at(shares, z);
    (limits.low > -margin && limits.high < margin ? inside : outside) = z;
  }
  test.outside_margin_p = boost::math::cdf(boost::math::complement(boost::math::normal(), inside));
  return test;
}

}  // namespace kv::reports
