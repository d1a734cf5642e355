// Differences and ratios of two mean scores of the same items, where each score is from 0 to 1.
//
// Resamples cannot see what no item shows: where two specs answer all of 200 items alike, every
// resample has the difference 0, although one of 100 other items may well be answered differently.
// So these intervals come from Wilson's of both means, which have a width whatever the answers are.
#pragma once

#include <span>

#include "kvcheck/reports/numbers/paired.h"
#include "kvcheck/reports/numbers/statistics.h"

namespace kv::reports {

// The mean of a - b with its 95 % interval: the limits of both means, joined with the correlation
// of the pairs (Newcombe's method 10, with its correction of that correlation). A score between 0
// and 1 counts as that share of a right answer, which makes the interval rather too wide. Without
// items the result is NaN. Requires lists of one length with values in [0, 1]. Source: Newcombe,
// "Improved confidence intervals for the difference between binomial proportions based on paired
// data", Statistics in Medicine 17 (1998).
Interval share_difference(std::span<const double> a, std::span<const double> b);

// sum(a) / sum(b) with an interval that contains the true ratio at least as often as both of
// Wilson's intervals contain their means: from the lower limit of one divided by the upper limit of
// the other to the reverse. NaN where sum(b) is 0. Requires the same.
Interval share_ratio(std::span<const double> a, std::span<const double> b);

// paired_test() of a - b with that interval. outside_margin_p is the smallest level at which both
// limits, each at that level, lie within the margin. detectable is NaN if all pairs are equal.
PairedTest paired_share_test(std::span<const double> a, std::span<const double> b, double margin);

}  // namespace kv::reports
