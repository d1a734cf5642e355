#include "kvcheck/reports/numbers/bootstrap.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/random/rng.h"

namespace kv::reports {
namespace {

constexpr double tail = 0.025;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Row `resample` of the indices of `count` values; a fixed seed: the same bytes each time.
void draw_indices(std::uint32_t resample, std::span<std::uint32_t> indices) {
  const Rng rng(1, resample);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<std::uint32_t>(rng.below(indices.size(), static_cast<Position>(i)));
  }
}

void draw_rows(std::uint32_t first, std::size_t count, std::span<std::uint32_t> indices) {
  for (std::size_t row = 0; row * count < indices.size(); ++row) {
    draw_indices(first + static_cast<std::uint32_t>(row), indices.subspan(row * count, count));
  }
}

// The sum of each resample, added in the order of its indices. Several resamples are added side by
// side: each sum waits for its last addition.
std::vector<double> resampled_sums(std::span<const double> values) {
  constexpr std::uint32_t together = 8;
  static_assert(resamples % together == 0);
  const std::size_t count = values.size();
  Resamples drawn(count);
  std::vector<double> out;
  for (std::uint32_t first = 0; first < resamples; first += together) {
    const std::uint32_t* const indices = drawn.rows(first, together).data();
    std::array<double, together> sums{};
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t row = 0; row < together; ++row) {
        sums[row] += values[indices[row * count + i]];
      }
    }
    out.insert(out.end(), sums.begin(), sums.end());
  }
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

// 1 for the highest; equal values have their mean rank.
std::vector<double> ranks_from_highest(const std::vector<double>& values) {
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto above = std::ranges::count_if(values, [&](double v) { return v > values[i]; });
    const auto alike = std::ranges::count(values, values[i]);
    ranks[i] = static_cast<double>(above) + static_cast<double>(alike + 1) / 2;
  }
  return ranks;
}

}  // namespace

Resamples::Resamples(std::size_t count) : count_(count) {
  constexpr std::size_t most = (std::size_t{1} << 26U) / sizeof(std::uint32_t) / resamples;
  if (count > most) return;
  static std::mutex mutex;
  static std::shared_ptr<const std::vector<std::uint32_t>> newest;
  const std::lock_guard lock(mutex);
  if (newest == nullptr || newest->size() != count * resamples) {
    auto table = std::make_shared<std::vector<std::uint32_t>>(count * resamples);
    draw_rows(0, count, *table);
    newest = std::move(table);
  }
  table_ = newest;
}

std::span<const std::uint32_t> Resamples::rows(std::uint32_t first, std::uint32_t rows) {
  if (table_ != nullptr) return std::span(*table_).subspan(first * count_, rows * count_);
  drawn_.resize(rows * count_);
  draw_rows(first, count_, drawn_);
  return drawn_;
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
  std::vector<double> means = resampled_sums(values);
  for (double& one : means) one /= static_cast<double>(values.size());
  std::ranges::sort(means);
  return corrected(mean, means, acceleration_of(values, mean), 1e-9 * (most - least));
}

Interval ratio_interval(std::span<const double> a, std::span<const double> b) {
  KV_CHECK(a.size() == b.size());
  const double sum_a = std::accumulate(a.begin(), a.end(), 0.0);
  const double sum_b = std::accumulate(b.begin(), b.end(), 0.0);
  if (sum_b == 0) return {};
  const double ratio = sum_a / sum_b;
  if (a.size() < fewest_pairs) return {.mean = ratio};
  std::vector<double> ratios = resampled_sums(a);
  const std::vector<double> below = resampled_sums(b);
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    ratios[i] = below[i] == 0 ? std::numeric_limits<double>::infinity() : ratios[i] / below[i];
  }
  std::ranges::sort(ratios);
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

std::vector<Interval> rank_intervals(const std::vector<std::vector<double>>& values) {
  if (values.empty()) return {};
  const std::size_t columns = values.front().size();
  const auto means_of = [&](const auto& row_at) {
    std::vector<double> means(columns);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::vector<double>& row = values[row_at(i)];
      for (std::size_t c = 0; c < columns; ++c) means[c] += row[c];
    }
    return means;
  };
  std::vector<Interval> intervals;
  for (const double rank : ranks_from_highest(means_of([](std::size_t i) { return i; }))) {
    intervals.push_back({.mean = rank});
  }
  if (values.size() < fewest_pairs) return intervals;
  std::vector<std::vector<double>> drawn_ranks(columns);
  Resamples drawn(values.size());
  for (std::uint32_t resample = 0; resample < resamples; ++resample) {
    const auto indices = drawn.rows(resample, 1);
    const auto ranks = ranks_from_highest(means_of([&](std::size_t i) { return indices[i]; }));
    for (std::size_t c = 0; c < columns; ++c) drawn_ranks[c].push_back(ranks[c]);
  }
  for (std::size_t c = 0; c < columns; ++c) {
    std::ranges::sort(drawn_ranks[c]);
    intervals[c].low = quantile_of(drawn_ranks[c], tail);
    intervals[c].high = quantile_of(drawn_ranks[c], 1 - tail);
  }
  return intervals;
}

}  // namespace kv::reports
