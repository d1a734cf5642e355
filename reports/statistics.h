// Intervals: how far a mean or a share may be from what it stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/metrics.h"

namespace kv {

// A mean with its 95 % interval.
struct Interval {
  double mean = not_measured;
  double low = not_measured;
  double high = not_measured;

  [[nodiscard]] double half_width() const { return (high - low) / 2; }
};

// The mean of n values and Student's t-interval with n - 1 degrees of freedom:
// mean -+ t(0.975) s / sqrt(n), s the sample's standard deviation. One value has no interval; one
// NaN among the values makes all of it NaN.
Interval t_interval(std::span<const double> values);

// A share of `hits` among `trials` and Wilson's score interval at 95 %, which stays inside [0, 1].
// Requires hits <= trials; no trials give NaN.
// Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
// (1927).
Interval share_interval(std::uint64_t hits, std::uint64_t trials);

// Spearman's rank correlation of two lists, the mean rank going to equal values; NaN for fewer than
// two, or where all of a list are equal. Requires lists of one length without NaN.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace kv
