#include <algorithm>
#include <cmath>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/statistics/bins.h"
#include "kvcheck/properties/statistics/chance_tests.h"
#include "kvcheck/properties/statistics/null_streams.h"

namespace kv::properties {
namespace {

constexpr double least_expected = 10;  // of each bin, for chi-square to hold far out in the tail

// k(n-k)/(n(n-1)): what the covariance of a stream is made of.
double scale_of(const Shape& shape) {
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  return k * (n - k) / (n * (n - 1));
}

double share_of(const Shape& shape) {
  return static_cast<double>(shape.k) / static_cast<double>(shape.n);
}

// Kept tokens of a bin beyond what the law expects.
double deviation_of(const Counts& counts, const BinRange& bin, std::span<const double> shares) {
  double deviation = 0;
  for (std::size_t i = bin.first; i < bin.last; ++i) {
    deviation +=
        static_cast<double>(counts.kept()[i]) - static_cast<double>(counts.streams()) * shares[i];
  }
  return deviation;
}

// Covariance of the kept tokens of each bin in one stream, [bins * bins].
std::vector<double> bin_covariance(const Shape& shape,
                                   ChanceLaw law,
                                   const std::vector<BinRange>& bins,
                                   std::span<const double> shares) {
  const std::size_t size = bins.size();
  std::vector<double> covariance(size * size);
  for (std::size_t b = 0; b < size; ++b) {
    for (std::size_t a = 0; a <= b; ++a) {
      double sum = 0;
      for (std::size_t j = bins[b].first; j < bins[b].last; ++j) {
        if (a == b) sum += shares[j] * (1 - shares[j]);
        for (std::size_t i = bins[a].first; i < std::min(j, bins[a].last); ++i) {
          const double both = pair_inclusion(law, shape, static_cast<std::uint32_t>(i),
                                             static_cast<std::uint32_t>(j));
          sum += (a == b ? 2 : 1) * (both - shares[i] * shares[j]);
        }
      }
      covariance[a * size + b] = sum;
      covariance[b * size + a] = sum;
    }
  }
  return covariance;
}

// T1. By symmetry the covariance has one eigenvalue but for the fixed sum, so no matrix is needed.
double uniform_form(const Counts& counts, const std::vector<BinRange>& bins) {
  const std::vector<double> shares = inclusions(ChanceLaw::uniform, counts.shape());
  double sum = 0;
  for (const BinRange& bin : bins) {
    const double deviation = deviation_of(counts, bin, shares);
    sum += deviation * deviation / static_cast<double>(bin.size());
  }
  return sum / (static_cast<double>(counts.streams()) * scale_of(counts.shape()));
}

// Mahalanobis' distance. The last bin is left out: all k kept tokens are counted, so the others
// determine it and the whole covariance is singular.
double law_form(const Counts& counts,
                ChanceLaw law,
                const std::vector<BinRange>& bins,
                std::size_t& rank) {
  const std::vector<double> shares = inclusions(law, counts.shape());
  const std::vector<double> whole = bin_covariance(counts.shape(), law, bins, shares);
  const std::size_t size = bins.size() - 1;
  std::vector<double> covariance(size * size);
  std::vector<double> deviations(size);
  for (std::size_t i = 0; i < size; ++i) {
    deviations[i] = deviation_of(counts, bins[i], shares);
    for (std::size_t j = 0; j < size; ++j) {
      covariance[i * size + j] = static_cast<double>(counts.streams()) * whole[i * bins.size() + j];
    }
  }
  return quadratic_form(std::move(covariance), std::move(deviations), rank);
}

// Too few streams for any bin: p over simulated ones, where the law is the uniform one. Under
// other laws nothing is claimed, and p remains 1.
void fill_small(const Counts& counts, ChanceLaw law, ChanceTest& test) {
  Statistic& statistic = test.statistic;
  if (law != ChanceLaw::uniform) return;
  const std::vector<BinRange> singles = [&] {
    std::vector<BinRange> bins;
    for (std::size_t i = 0; i < counts.shape().n; ++i) bins.push_back({i, i + 1});
    return bins;
  }();
  const auto form = [&](const Counts& any) { return uniform_form(any, singles); };
  statistic.value = form(counts);
  statistic.freedom = counts.shape().n - 1;
  statistic.p = simulated_tail(counts, statistic.value, {}, form);
  statistic.what += ", p by simulation";
}

}  // namespace

Largest largest_deviation(const Counts& counts, ChanceLaw law) {
  const Shape& shape = counts.shape();
  const auto streams = static_cast<double>(counts.streams());
  const std::vector<double> shares = inclusions(law, shape);
  Largest largest;
  for (std::uint32_t i = 0; i < shape.n; ++i) {
    const double deviation = static_cast<double>(counts.kept()[i]) - streams * shares[i];
    const double variance = streams * shares[i] * (1 - shares[i]);
    // What is certain under the law and happened otherwise weighs like one chance in a million.
    const double z = deviation / std::sqrt(std::max(variance, 1e-6 * streams));
    if (std::abs(z) > std::abs(largest.z)) {
      largest.token = i;
      largest.z = z;
    }
  }
  const std::uint64_t hits = counts.kept()[largest.token];
  largest.bounds = exact_bounds(hits, counts.streams(), 0.05 / static_cast<double>(shape.n));
  largest.text = "token " + std::to_string(largest.token + 1) + " of " + std::to_string(shape.n) +
                 " is kept in " + percent_text(static_cast<double>(hits) / streams) +
                 " of streams instead of " + percent_text(shares[largest.token]) + " (" +
                 bounds_text(largest.bounds) + ")";
  return largest;
}

ChanceTest inclusion_test(const Counts& counts, ChanceLaw law) {
  const Shape& shape = counts.shape();
  const auto streams = static_cast<double>(counts.streams());
  KV_CHECK(counts.streams() > 0);
  ChanceTest test{
      {.name = "T1", .what = "inclusion of each token against " + formula_of(law, shape)}};
  const Largest largest = largest_deviation(counts, law);
  test.set_effect(largest.text, largest.bounds);
  test.per_root = std::sqrt(scale_of(shape) / (streams * shape.n)) / share_of(shape);

  std::vector<double> in = inclusions(law, shape);
  std::vector<double> out = in;
  for (double& share : in) share *= streams;
  for (double& share : out) share = streams * (1 - share);
  const std::vector<BinRange> bins = pooled(in, out, least_expected);
  if (bins.size() < 2) {
    fill_small(counts, law, test);
    return test;
  }
  std::size_t rank = bins.size() - 1;
  test.statistic.value =
      law == ChanceLaw::uniform ? uniform_form(counts, bins) : law_form(counts, law, bins, rank);
  test.statistic.freedom = static_cast<double>(rank);
  test.statistic.p = chi_square_tail(test.statistic.value, test.statistic.freedom);
  return test;
}

std::optional<ChanceTest> subset_test(const Counts& counts) {
  const auto subsets = counts.subsets();
  KV_CHECK(!subsets.empty());
  const auto bins = static_cast<double>(subsets.size());
  const double expected = static_cast<double>(counts.streams()) / bins;
  if (expected < least_expected) return std::nullopt;
  ChanceTest test{{.name = "subsets",
                   .what = "each of the " + std::to_string(subsets.size()) + " sets of " +
                           std::to_string(counts.shape().k) + " against every other"}};
  Statistic& statistic = test.statistic;
  std::uint64_t farthest = subsets[0];
  for (const std::uint64_t count : subsets) {
    const double deviation = static_cast<double>(count) - expected;
    statistic.value += deviation * deviation / expected;
    if (std::abs(deviation) > std::abs(static_cast<double>(farthest) - expected)) farthest = count;
  }
  statistic.freedom = bins - 1;
  statistic.p = chi_square_tail(statistic.value, statistic.freedom);
  test.set_effect(
      "one set is kept in " +
          percent_text(static_cast<double>(farthest) / static_cast<double>(counts.streams())) +
          " of streams instead of " + percent_text(1 / bins),
      exact_bounds(farthest, counts.streams(), 0.05 / bins));
  test.per_root = 1 / std::sqrt(static_cast<double>(counts.streams()));
  return test;
}

}  // namespace kv::properties
