#include "reports/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace kv {
namespace {

constexpr double upper_tail = 0.975;

}  // namespace

Interval t_interval(std::span<const double> values) {
  if (values.empty()) return {};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (!std::isfinite(mean) || values.size() < 2) return {.mean = mean};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double t = boost::math::quantile(boost::math::students_t(n - 1), upper_tail);
  const double half = t * std::sqrt(squares / (n - 1) / n);
  return {.mean = mean, .low = mean - half, .high = mean + half};
}

Interval share_interval(std::uint64_t hits, std::uint64_t trials) {
  KV_CHECK(hits <= trials);
  if (trials == 0) return {};
  static const double z = boost::math::quantile(boost::math::normal(), upper_tail);
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(hits) / n;
  const double centre = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {.mean = share, .low = std::max(0.0, centre - half), .high = std::min(1.0, centre + half)};
}

}  // namespace kv
