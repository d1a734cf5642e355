#include <cmath>

#include "kvcheck/base/check.h"
#include "kvcheck/properties/statistics/chance_tests.h"
#include "kvcheck/properties/statistics/null_streams.h"

namespace kv::properties {
namespace {

constexpr double least_pairs = 50;  // expected of each pair, for chi-square to hold

// T2's constants for one shape.
struct PairForm {
  explicit PairForm(const Shape& shape)
      : n(shape.n),
        k(shape.k),
        share(k / n),
        both(k * (k - 1) / (n * (n - 1))),
        slope((k - 1) / (n - 2)),
        eigenvalue(both * (n - k) * (n - k - 1) / ((n - 2) * (n - 3))) {}

  double n;
  double k;
  double share;
  double both;
  double slope;
  double eigenvalue;
};

struct Farthest {
  std::uint32_t i = 0;
  std::uint32_t j = 1;
  double rest = 0;
};

double pair_value(const Counts& counts, Farthest& farthest) {
  const PairForm form(counts.shape());
  const auto streams = static_cast<double>(counts.streams());
  std::vector<double> deviations;
  for (const std::uint64_t kept : counts.kept()) {
    deviations.push_back(static_cast<double>(kept) - streams * form.share);
  }
  double sum = 0;
  for (std::uint32_t j = 1; j < counts.shape().n; ++j) {
    for (std::uint32_t i = 0; i < j; ++i) {
      // The part of a pair's deviation that its tokens' own deviations do not explain.
      const double rest = static_cast<double>(counts.pair(i, j)) - streams * form.both -
                          form.slope * (deviations[i] + deviations[j]);
      sum += rest * rest;
      if (std::abs(rest) > std::abs(farthest.rest)) farthest = {i, j, rest};
    }
  }
  return sum / (streams * form.eigenvalue);
}

}  // namespace

std::optional<ChanceTest> pair_test(const Counts& counts) {
  const Shape& shape = counts.shape();
  KV_CHECK(counts.has_pairs());
  if (shape.n < 4 || shape.k < 2 || shape.n - shape.k < 2) return std::nullopt;
  const PairForm form(shape);
  const auto streams = static_cast<double>(counts.streams());
  const double pairs = form.n * (form.n - 1) / 2;

  ChanceTest test{{.name = "T2", .what = "each pair of tokens, given how often each is kept"}};
  Statistic& statistic = test.statistic;
  Farthest farthest;
  statistic.value = pair_value(counts, farthest);
  statistic.freedom = form.n * (form.n - 3) / 2;
  if (streams * form.both >= least_pairs) {
    statistic.p = chi_square_tail(statistic.value, statistic.freedom);
  } else {
    statistic.what += ", p by simulation";
    statistic.p = simulated_tail(counts, statistic.value, {.pairs = true}, [](const Counts& any) {
      Farthest ignored;
      return pair_value(any, ignored);
    });
  }
  const std::uint64_t hits = counts.pair(farthest.i, farthest.j);
  const Bounds bounds = exact_bounds(hits, counts.streams(), 0.05 / pairs);
  test.set_effect(
      "tokens " + std::to_string(farthest.i + 1) + " and " + std::to_string(farthest.j + 1) +
          " are kept together in " + percent_text(static_cast<double>(hits) / streams) +
          " of streams instead of " + percent_text(form.both) + " (" + bounds_text(bounds) + ")",
      bounds);
  test.per_root = std::sqrt(form.eigenvalue / (streams * pairs)) / form.both;
  return test;
}

}  // namespace kv::properties
