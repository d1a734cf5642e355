#include "kvcheck/reports/numbers/bootstrap.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "kvcheck/base/check.h"

namespace kv::reports {
namespace {

constexpr double tail = 0.025;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// What `statistic` makes of the indices of each resample, in increasing order.
template <typename Statistic>
std::vector<double> resampled(std::size_t count, const Statistic& statistic) {
  std::vector<double> out(resamples);
  std::vector<std::size_t> indices(count);
  for (std::uint32_t resample = 0; resample < resamples; ++resample) {
    const Rng rng(1, resample);  // a fixed seed: the same bytes each time
    for (std::size_t i = 0; i < count; ++i) indices[i] = resampled_index(rng, i, count);
    out[resample] = statistic(indices);
  }
  std::ranges::sort(out);
  return out;
}

// The skewness of the jackknife's means / 6: how fast the standard error changes with the mean.
double acceleration_of(std::span<const double> values, double mean) {
  double squares = 0;
  double cubes = 0;
  for (const double value : values) {
    const double d = value - mean;  // n - 1 times what leaving this value out takes from the mean
    squares += d * d;
    cubes += d * d * d;
  }
  return squares == 0 ? 0 : cubes / (6 * std::pow(squares, 1.5));
}

// The BCa interval of a statistic from those of its resamples, in increasing order. Resamples that
// have every value once have the same statistic but for rounding: of those within `near`, half
// count as below.
Interval corrected(double seen,
                   const std::vector<double>& ordered,
                   double acceleration,
                   double near) {
  const boost::math::normal normal;
  const auto below = std::ranges::lower_bound(ordered, seen - near) - ordered.begin();
  const auto above = std::ranges::upper_bound(ordered, seen + near) - ordered.begin();
  // Never 0 or 1, whose quantiles are infinite.
  const double share = (static_cast<double>(below + above) / 2 + 0.5) / (resamples + 1.0);
  const double bias = boost::math::quantile(normal, share);
  const auto limit = [&](double p) {
    const double z = bias + boost::math::quantile(normal, p);
    return quantile_of(ordered, boost::math::cdf(normal, bias + z / (1 - acceleration * z)));
  };
  return {.mean = seen, .low = limit(tail), .high = limit(1 - tail)};
}

}  // namespace

std::size_t resampled_index(const Rng& rng, std::size_t i, std::size_t count) {
  return rng.below(count, static_cast<Position>(i));
}

double quantile_of(const std::vector<double>& ordered, double p) {
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(ordered.size());
  const auto index = static_cast<std::size_t>(std::max(0.0, std::ceil(at) - 1));
  return ordered[std::min(index, ordered.size() - 1)];
}

Interval bootstrap_interval(std::span<const double> values) {
  if (values.empty()) return {};
  const double mean = mean_of(values);
  if (values.size() < fewest_pairs) return {.mean = mean};
  const auto [least, most] = std::ranges::minmax(values);
  if (least == most) return {.mean = mean, .low = mean, .high = mean};
  const auto means = resampled(values.size(), [&](const std::vector<std::size_t>& indices) {
    double sum = 0;
    for (const std::size_t i : indices) sum += values[i];
    return sum / static_cast<double>(values.size());
  });
  return corrected(mean, means, acceleration_of(values, mean), 1e-9 * (most - least));
}

Interval ratio_interval(std::span<const double> a, std::span<const double> b) {
  KV_CHECK(a.size() == b.size());
  const double sum_a = std::accumulate(a.begin(), a.end(), 0.0);
  const double sum_b = std::accumulate(b.begin(), b.end(), 0.0);
  if (sum_b == 0) return {};
  const double ratio = sum_a / sum_b;
  if (a.size() < fewest_pairs) return {.mean = ratio};
  const auto ratios = resampled(a.size(), [&](const std::vector<std::size_t>& indices) {
    double above = 0;
    double below = 0;
    for (const std::size_t i : indices) {
      above += a[i];
      below += b[i];
    }
    return below == 0 ? std::numeric_limits<double>::infinity() : above / below;
  });
  if (ratios.front() == ratios.back()) return {.mean = ratio, .low = ratio, .high = ratio};
  std::vector<double> without(a.size());  // one pair each
  for (std::size_t i = 0; i < a.size(); ++i) without[i] = (sum_a - a[i]) / (sum_b - b[i]);
  const double centre = mean_of(without);
  // What leaving a pair out takes from the ratio, as acceleration_of wants it.
  for (double& value : without) value = 2 * centre - value;
  const double acceleration = acceleration_of(without, centre);
  return corrected(ratio, ratios, std::isfinite(acceleration) ? acceleration : 0,
                   1e-9 * std::abs(ratio));
}

}  // namespace kv::reports
