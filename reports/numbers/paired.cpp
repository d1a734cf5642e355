#include "kvcheck/reports/numbers/paired.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/random/rng.h"

namespace kv::reports {
namespace {

constexpr std::uint32_t resamples = 10'000;
constexpr double tail = 0.025;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// The index of the i-th value of a resample. A fixed seed, so that a table has the same bytes each
// time it is written.
std::size_t drawn(const Rng& rng, std::size_t i, std::size_t count) {
  return rng.below(count, static_cast<Position>(i));
}

// What `statistic` makes of the indices of each resample, in increasing order.
template <typename Statistic>
std::vector<double> resampled(std::size_t count, const Statistic& statistic) {
  std::vector<double> out(resamples);
  std::vector<std::size_t> indices(count);
  for (std::uint32_t resample = 0; resample < resamples; ++resample) {
    const Rng rng(1, resample);
    for (std::size_t i = 0; i < count; ++i) indices[i] = drawn(rng, i, count);
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

// The value below which the share p of the ordered values lies.
double quantile_of(const std::vector<double>& ordered, double p) {
  const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(ordered.size());
  const auto index = static_cast<std::size_t>(std::max(0.0, std::ceil(at) - 1));
  return ordered[std::min(index, ordered.size() - 1)];
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

constexpr double slack = 1e-12;

double scale_of(const std::vector<std::vector<double>>& columns, const Contrast& contrast) {
  double squares = 0;
  for (std::size_t text = 0; text < columns[contrast.of].size(); ++text) {
    const double other = contrast.against == Contrast::zero ? 0 : columns[contrast.against][text];
    const double d = columns[contrast.of][text] - other;
    squares += d * d;
  }
  return std::sqrt(squares);
}

struct Patterns {
  std::uint64_t tried = 0;
  std::uint64_t observed = 0;  // 1: the observed pattern counts as one more
};

// Calls use(signs) with all patterns of +1 and -1, or with drawn ones where they are many. Whether
// all signs change makes no difference, so that the last sign of a counted pattern is fixed.
template <typename Use>
Patterns for_each_signs(std::size_t texts, const Use& use) {
  constexpr std::size_t countable = 16;
  constexpr std::uint32_t draws = 20'000;
  std::vector<double> signs(texts, 1.0);
  if (texts <= countable) {
    const std::uint64_t patterns = std::uint64_t{1} << (texts == 0 ? 0 : texts - 1);
    for (std::uint64_t bits = 0; bits < patterns; ++bits) {
      for (std::size_t i = 0; i + 1 < texts; ++i) signs[i] = (bits >> i & 1U) != 0 ? 1.0 : -1.0;
      use(signs);
    }
    return {.tried = patterns};
  }
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    const Rng rng(1, draw);  // as in paired_flips
    for (std::size_t i = 0; i < texts; ++i) {
      signs[i] = rng.below(2, static_cast<Position>(i)) == 1 ? 1.0 : -1.0;
    }
    use(signs);
  }
  return {.tried = draws, .observed = 1};
}

}  // namespace

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

PairedTest paired_test(std::span<const double> differences, double margin) {
  KV_CHECK(margin >= 0);
  PairedTest test{.pairs = differences.size(),
                  .same = std::ranges::count(differences, 0.0) == std::ssize(differences),
                  .difference = bootstrap_interval(differences)};
  if (differences.size() < fewest_pairs) return test;
  const std::vector<double> zeros(differences.size());
  test.p = paired_flips(differences, zeros);
  const auto n = static_cast<double>(differences.size());
  const double mean = test.difference.mean;
  const double error = deviation_of(differences, mean) / std::sqrt(n);
  const boost::math::students_t t(n - 1);
  test.detectable = (boost::math::quantile(t, 1 - tail) + boost::math::quantile(t, 0.8)) * error;
  if (error == 0) {
    test.outside_margin_p = std::abs(mean) < margin ? 0 : 1;
    return test;
  }
  const double below = boost::math::cdf(boost::math::complement(t, (mean + margin) / error));
  const double above = boost::math::cdf(t, (mean - margin) / error);
  test.outside_margin_p = std::max(below, above);
  return test;
}

std::vector<double> largest_flips(const std::vector<std::vector<double>>& columns,
                                  std::span<const Contrast> contrasts) {
  const std::size_t texts = columns.empty() ? 0 : columns.front().size();
  std::vector<double> scales;
  for (const Contrast& contrast : contrasts) scales.push_back(scale_of(columns, contrast));
  // The statistics of all contrasts when the sums of the columns are `sums`.
  const auto statistics_of = [&](const std::vector<double>& sums, std::vector<double>& out) {
    for (std::size_t c = 0; c < contrasts.size(); ++c) {
      const auto& [of, against] = contrasts[c];
      const double sum = sums[of] - (against == Contrast::zero ? 0 : sums[against]);
      out[c] = scales[c] == 0 ? 0 : std::abs(sum) / scales[c];
    }
  };
  std::vector<double> sums(columns.size());
  const auto add_up = [&](const auto& sign_of) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
      double sum = 0;
      for (std::size_t text = 0; text < texts; ++text) {
        sum += sign_of(text) * columns[column][text];
      }
      sums[column] = sum;
    }
  };
  std::vector<double> seen(contrasts.size());
  add_up([](std::size_t) { return 1.0; });
  statistics_of(sums, seen);
  std::vector<std::uint64_t> as_far(contrasts.size());
  std::vector<double> flipped(contrasts.size());
  const auto patterns = for_each_signs(texts, [&](const std::vector<double>& signs) {
    add_up([&](std::size_t text) { return signs[text]; });
    statistics_of(sums, flipped);
    const double most = flipped.empty() ? 0 : std::ranges::max(flipped);
    // Sums in another sign pattern round differently; see paired_flips.
    for (std::size_t c = 0; c < seen.size(); ++c) as_far[c] += most >= seen[c] - slack ? 1U : 0U;
  });
  std::vector<double> p;
  for (std::size_t c = 0; c < contrasts.size(); ++c) {
    const auto far = static_cast<double>(as_far[c] + patterns.observed);
    p.push_back(scales[c] == 0 ? 1 : far / static_cast<double>(patterns.tried + patterns.observed));
  }
  return p;
}

std::vector<Finding> findings_of(std::span<const PairedTest> tests,
                                 std::span<const double> p,
                                 std::span<const double> outside_margin_p,
                                 double level) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].same) {
      findings.push_back(Finding::same);
    } else if (tests[i].pairs < fewest_pairs) {
      findings.push_back(Finding::few);
    } else if (outside_margin_p[i] <= level) {
      findings.push_back(Finding::equal);
    } else if (p[i] <= level) {
      findings.push_back(tests[i].difference.mean > 0 ? Finding::higher : Finding::lower);
    } else {
      findings.push_back(Finding::not_shown);
    }
  }
  return findings;
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
  for (std::uint32_t resample = 0; resample < resamples; ++resample) {
    const Rng rng(1, resample);
    const auto ranks =
        ranks_from_highest(means_of([&](std::size_t i) { return drawn(rng, i, values.size()); }));
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
