// Intervals: how far a mean or a share may be from what it stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/sim/replay/metrics.h"

namespace kv::reports {

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

// How likely pairs differ by so much on average, one way or the other, where nothing but chance
// says which of two is which: the share of sign patterns of a - b whose sum is as far from 0. All
// 2^n are counted up to n = 16; beyond that 20,000 are drawn, always the same, and the share is
// never below 1 / 20,001. 1 where all pairs are equal. Requires lists of one length without NaN.
// Source: Fisher, "The Design of Experiments" (1935), section 21.
double paired_flips(std::span<const double> a, std::span<const double> b);

// The p-values as they are worth when all of them are looked at: multiplied, from the least on, by
// how many are left, never falling, at most 1. In the order given; NaN stays NaN and counts for
// nothing.
// Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
// Statistics 6 (1979).
std::vector<double> holm(std::span<const double> values);

// Spearman's rank correlation of two lists, the mean rank going to equal values; NaN for fewer than
// two, or where all of a list are equal. Requires lists of one length without NaN.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace kv::reports
