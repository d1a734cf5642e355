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

// Of so many texts all patterns of signs are counted; of more, some are drawn.
inline constexpr std::size_t counted_texts = 16;

// The p-values of many contrasts, corrected for their number. Each column has a value for each
// text, and 0 at texts that do not count. One random sign of each text changes all its differences,
// whose statistic is |sum d| / sqrt(sum d^2). Patterns are counted or drawn as in paired_flips. The
// p-value of a contrast that is 0 at every text is 1. Both corrections lose little to contrasts
// that resemble each other.
//
// largest_flips: the share of patterns in which the largest statistic of all contrasts is at least
// the contrast's own. With few texts p-values have few values, to which nothing is lost here.
// Cost: patterns x (values + contrasts). Source: Westfall and Young, "Resampling-based multiple
// testing" (1993), section 2.6 (single-step maxT).
//
// least_flips: the share of patterns in which the least p-value of the contrast and of all with
// larger ones is at most its own. Contrasts with unlike tails count alike, and none is above Holm's
// correction of its own p-value. Requires more than counted_texts texts. Cost: patterns x (values +
// contrasts x log patterns). Source: the same, section 2.6 (step-down minP).
//
// Both require finite values.
std::vector<double> largest_flips(const std::vector<std::vector<double>>& columns,
                                  std::span<const Contrast> contrasts);
std::vector<double> least_flips(const std::vector<std::vector<double>>& columns,
                                std::span<const Contrast> contrasts);

// By least_flips, or of up to counted_texts texts by largest_flips.
std::vector<double> corrected_flips(const std::vector<std::vector<double>>& columns,
                                    std::span<const Contrast> contrasts);

// The findings of tests whose p-values, both corrected, are given.
std::vector<Finding> findings_of(std::span<const PairedTest> tests,
                                 std::span<const double> p,
                                 std::span<const double> outside_margin_p,
                                 double level);

}  // namespace kv::reports
