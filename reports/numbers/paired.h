// Tests of paired differences between two policies, two versions or two machines, over texts.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kvcheck/reports/numbers/bootstrap.h"
#include "kvcheck/reports/numbers/statistics.h"

namespace kv::reports {

struct PairedTest {
  std::size_t pairs = 0;
  bool same = false;  // all differences are exactly 0

  // The mean difference with its bootstrap interval (bootstrap_interval); no interval of fewer than
  // fewest_pairs.
  Interval difference{};

  // Whether the mean difference is 0: two-sided, by random signs (paired_flips). NaN of fewer than
  // fewest_pairs.
  double p = not_measured;

  // Whether the mean difference lies outside -margin to margin: the larger p-value of two one-sided
  // t-tests. If it is small, the two are equal within the margin. NaN like p. Source: Schuirmann,
  // "A comparison of the two one-sided tests procedure and the power approach for assessing the
  // equivalence of average bioavailability", J. Pharmacokin. Biopharm. 15 (1987).
  double outside_margin_p = not_measured;

  // The smallest true difference that a two-sided test at 5 % would have shown with probability
  // 0.8, if the differences are normal with the sample's deviation s: (t(0.975) + t(0.8)) s /
  // sqrt(n), with n - 1 degrees of freedom. NaN like p.
  double detectable = not_measured;
};

// Requires finite differences and margin >= 0.
PairedTest paired_test(std::span<const double> differences, double margin);

// `detectable` of one of several tests at `level` together: that of a t-test at level / tests.
// Tests by random signs find such a difference about as often; see docs/statistics.md.
double detectable_among(const PairedTest& test, std::size_t tests, double level);

// What a paired test says, together with the other tests of its table.
enum class Finding {
  same,      // all differences are exactly 0
  few,       // fewer than fewest_pairs: nothing can be said of other texts
  higher,    // the mean difference is above 0, and not shown to lie within the margin
  lower,     // below 0, likewise
  equal,     // the mean difference is shown to lie within the margin
  not_shown  // neither is shown: see PairedTest::detectable
};

// A comparison of two columns, or of one column with 0.
struct Contrast {
  static constexpr std::size_t zero = static_cast<std::size_t>(-1);

  std::size_t of = 0;
  std::size_t against = zero;
};

// The p-values of many contrasts, corrected for their number. Each column has a value for each
// text, and 0 at texts that do not count. One random sign of each text changes all its differences;
// a contrast's p-value is the share of sign patterns in which the largest |sum d| / sqrt(sum d^2)
// of all contrasts is at least its own. Patterns are counted or drawn as in paired_flips. The
// p-value of a contrast that is 0 at every text is 1. Unlike Holm's correction this loses nothing
// to the few values that p can have with few texts, and little to contrasts that resemble each
// other.
// Requires finite values. Cost: patterns x (values + contrasts). Source: Westfall and Young,
// "Resampling-based multiple testing" (1993), section 2.6 (single-step maxT).
std::vector<double> largest_flips(const std::vector<std::vector<double>>& columns,
                                  std::span<const Contrast> contrasts);

// The findings of tests whose p-values, both corrected, are given.
std::vector<Finding> findings_of(std::span<const PairedTest> tests,
                                 std::span<const double> p,
                                 std::span<const double> outside_margin_p,
                                 double level);

// Ranks of columns by their mean over rows, 1 for the highest, with 95 % intervals from 10,000
// resamples of the rows: the middle 95 % of a column's ranks. `values` has a list for each row, all
// of one length. Ranks are means over equal columns. No intervals of fewer than fewest_pairs rows.
std::vector<Interval> rank_intervals(const std::vector<std::vector<double>>& values);

}  // namespace kv::reports
