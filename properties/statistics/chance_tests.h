// Tests of what a law of chance says of counts, each with its exact null covariance.
//
// Every test gives a Statistic without a level: the caller decides at which level it rejects, and
// asks detectable() what it could have seen there. Effects are shares unless said otherwise, and
// their intervals hold for all tokens of the test at once with 95 %.
//
// With R streams, X_i whether token i is kept, p = k/n, c = k(n-k)/(n(n-1)):
//   Cov(X_i, X_j) = c (delta_ij - 1/n), so that T1 = sum d_i^2 / (R c), d_i = C_i - R p, is
//   chi-square with n - 1 degrees; E T1 = n - 1 and Var T1 = 2 (n-1) (1 - 1/R) for every R.
// Neighbours are pooled until each bin expects at least 10 kept and 10 evicted (pairs: 50); where
// that leaves nothing to compare, p is counted over simulated streams instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kvcheck/properties/statistics/counts.h"
#include "kvcheck/properties/statistics/tail.h"
#include "kvcheck/properties/verdict.h"

namespace kv::properties {

struct ChanceTest {
  Statistic statistic{};

  // The effect whose non-centrality is 1 at this many streams, so that non-centrality lambda is
  // reached by per_root * sqrt(lambda). What `detectable` counts in: see each test. 0: the test has
  // set statistic.detectable itself.
  double per_root = 0;

  double choices = 1;  // p is already multiplied by so many

  void set_effect(std::string words, const Bounds& bounds) {
    statistic.effect = std::move(words);
    statistic.effect_low = bounds.low;
    statistic.effect_high = bounds.high;
  }
};

// The smallest effect that `times` as many streams would have seen at `level` with `power`.
double detectable(const ChanceTest& test, double level, double power, double times = 1);

// T1: is every token kept as often as the law says? Under `uniform` the form above; else the
// quadratic form of the law's whole covariance, a Mahalanobis distance. Detectable: the root mean
// square deviation of a token's inclusion from the law's, relative to the law's mean.
ChanceTest inclusion_test(const Counts& counts, ChanceLaw law);

// T2, uniform only: is every pair kept together as often as any, given how often each is kept?
//   r_ij = N_ij - R pi2 - (k-1)/(n-2) (d_i + d_j), lambda2 = pi2 (n-k)(n-k-1)/((n-2)(n-3)),
//   T2 = sum r_ij^2 / (R lambda2): chi-square with n(n-3)/2 degrees, uncorrelated with T1.
// Nothing where a pair has no freedom (k < 2, n - k < 2 or n < 4). Requires pairs. Detectable: the
// root mean square deviation of a pair's inclusion, relative.
std::optional<ChanceTest> pair_test(const Counts& counts);

// TA: does the t-th token enter with the law's probability? Independent Bernoulli trials over t.
// Nothing if no decisions were reported. Where the law leaves nothing to chance, one refusal
// refutes it. Detectable: a relative change of the acceptance common to all t.
std::optional<ChanceTest> acceptance_test(const Counts& counts, ChanceLaw law);

// TE: is the evicted older token uniform among the k by age? Nothing if k = 1 or none was evicted.
// Detectable: the root mean square deviation of a rank's share, relative to 1/k.
std::optional<ChanceTest> age_rank_test(const Counts& counts);

// Uniform only. A straight line through inclusion against the order of entering; its deviate has
// exact variance. Detectable: the relative difference between the last token and the first.
ChanceTest trend_test(const Counts& counts);

// Uniform only. The token farthest from its share, by exact binomial tails times n. Detectable:
// relative deviation of one token.
ChanceTest largest_test(const Counts& counts);

// Uniform only, tiny n: Pearson over all subsets, one draw a stream. Requires subsets. Nothing if
// a subset expects fewer than 10. Detectable: root mean square relative deviation of a subset.
std::optional<ChanceTest> subset_test(const Counts& counts);

// The token whose share is farthest from the law's, in words: "token 5 of 16 is kept in 31 % of
// streams instead of 25 % (28.1 % to 33.9 %)", its bounds for effect_low and effect_high.
struct Largest {
  std::uint32_t token = 0;
  double z = 0;
  Bounds bounds;
  std::string text;
};

Largest largest_deviation(const Counts& counts, ChanceLaw law);

}  // namespace kv::properties
