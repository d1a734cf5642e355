#include <algorithm>
#include <cmath>

#include "kvcheck/properties/statistics/chance_tests.h"

namespace kv::properties {

double detectable(const ChanceTest& test, double level, double power, double times) {
  if (test.per_root <= 0) return test.statistic.detectable;
  return test.per_root *
         std::sqrt(noncentrality(test.statistic.freedom, level / test.choices, power) / times);
}

// Weights are centred, so the fixed sum of all kept tokens drops out, and the variance is exactly
// R c sum w^2 from the covariance in chance_tests.h.
ChanceTest trend_test(const Counts& counts) {
  const Shape& shape = counts.shape();
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  const auto streams = static_cast<double>(counts.streams());
  const double scale = k * (n - k) / (n * (n - 1));
  double sum = 0;
  double squares = 0;
  for (std::uint32_t i = 0; i < shape.n; ++i) {
    const double weight = i - (n - 1) / 2;
    sum += weight * static_cast<double>(counts.kept()[i]);
    squares += weight * weight;
  }
  ChanceTest test{{.name = "trend", .what = "inclusion against the order of entering"}};
  Statistic& statistic = test.statistic;
  const double deviation = std::sqrt(streams * scale * squares);
  statistic.value = sum / deviation;
  statistic.p = normal_tail(statistic.value);
  // The least-squares slope, times the way from the first token to the last, over k/n.
  const double per_z = deviation / squares / streams * (n - 1) / (k / n);
  const double rise = statistic.value * per_z;
  const Bounds bounds{rise - 1.96 * per_z, rise + 1.96 * per_z};
  test.set_effect("from the first token to the last, inclusion changes by " + percent_text(rise) +
                      " of k/n (" + bounds_text(bounds) + ")",
                  bounds);
  test.per_root = per_z;
  return test;
}

ChanceTest largest_test(const Counts& counts) {
  const Shape& shape = counts.shape();
  const double share = static_cast<double>(shape.k) / static_cast<double>(shape.n);
  const auto streams = static_cast<double>(counts.streams());
  ChanceTest test{
      {.name = "largest", .what = "the token farthest from k/n, by exact tails times n"}};
  Statistic& statistic = test.statistic;
  for (const std::uint64_t kept : counts.kept()) {
    statistic.p = std::min(statistic.p, binomial_tail(kept, counts.streams(), share));
  }
  // Bonferroni over the tokens. They are negatively correlated, so little is lost by it.
  statistic.p = std::min(1.0, statistic.p * static_cast<double>(shape.n));
  const Largest largest = largest_deviation(counts, ChanceLaw::uniform);
  statistic.value = largest.z;
  test.set_effect(largest.text, largest.bounds);
  test.per_root = std::sqrt((1 - share) / (streams * share));
  test.choices = static_cast<double>(shape.n);
  return test;
}

}  // namespace kv::properties
