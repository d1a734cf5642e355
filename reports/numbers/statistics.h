// Statistics: intervals of means and shares, tests of paired differences, and rank correlation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// The mean of n values and Student's t-interval with n - 1 degrees of freedom: mean -+ t(0.975) s /
// sqrt(n), with the sample's standard deviation s. A single value has no interval. If any value is
// NaN, so is the whole result.
Interval t_interval(std::span<const double> values);

// The share of `hits` among `trials` and Wilson's score interval at 95 %, which is never outside
// [0, 1]. Requires hits <= trials. Without trials the result is NaN. Source: Wilson, "Probable
// inference, the law of succession, and statistical inference", JASA 22 (1927).
Interval share_interval(std::uint64_t hits, std::uint64_t trials);

// The deviations from the mean that 95 % of a normal distribution are within.
inline constexpr double deviations_of_95 = 1.959963984540054;

// Wilson's interval at so many deviations; `hits` may be a sum of shares.
Interval wilson_interval(double hits, std::size_t trials, double z);

// The mean of scores from 0 to 1, one for each item, with the same interval: the sum of the scores
// counts as hits. Most are 0 or 1, as answers are right or wrong; others are an F1, or a mean over
// seeds. Such values vary less from item to item than 0 and 1 with the same mean do, so their
// interval is rather too wide. Resamples would be worse for few items: where all answers are right
// they are all the same, and the interval would have no width, as if no other item could fail.
// Requires values in [0, 1].
Interval share_interval(std::span<const double> shares);

// The signs with which tests by random signs flip differences: always the same ones, and those of
// the first texts are the same for any number of texts. They are drawn once for all tests of as
// many texts, unless there are too many texts to hold them.
class DrawnSigns {
 public:
  static constexpr std::uint32_t draws = 20'000;

  explicit DrawnSigns(std::size_t texts);

  // +1 or -1: the signs of one text in `count` draws from `first` on. Valid until the next call.
  std::span<const std::int8_t> of_text(std::size_t text,
                                       std::size_t first = 0,
                                       std::size_t count = draws);

 private:
  std::shared_ptr<const std::vector<std::int8_t>> table_;  // by text, then draw; null: too many
  std::vector<std::int8_t> one_;
};

// The p-value of the mean difference of pairs, two-sided, if the order within each pair is random:
// the share of sign patterns of a - b whose sum is at least as far from 0 as the observed one. Up
// to n = 16 all 2^n patterns are counted. Beyond that 20,000 are drawn, always the same ones, and
// the p-value is never below 1 / 20,001. The p-value is 1 if all pairs are equal. Requires lists of
// one length without NaN. Source: Fisher, "The Design of Experiments" (1935), section 21.
double paired_flips(std::span<const double> a, std::span<const double> b);

// Holm's correction of p-values for multiple tests: in increasing order each is multiplied by the
// number of p-values that are left, itself included, and the results never decrease and are at most
// 1. They are returned in the given order. NaN remains NaN and is not counted as a test. Where more
// tests count than are given, `tests` is the number of all, and the result is at least what the
// correction of all would give. Source: Holm, "A simple sequentially rejective
// multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
std::vector<double> holm(std::span<const double> values, std::size_t tests = 0);

// Spearman's rank correlation of two lists; equal values have their mean rank. NaN for fewer than
// two values, or if all values of a list are equal. Requires lists of one length without NaN.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace kv::reports
