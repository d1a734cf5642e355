#include "kvcheck/properties/statistics/bins.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/check.h"

namespace kv::properties {

std::vector<BinRange> pooled(std::span<const double> in,
                             std::span<const double> out,
                             double least) {
  KV_CHECK(in.size() == out.size());
  std::vector<BinRange> bins;
  BinRange bin;
  double inside = 0;
  double outside = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    inside += in[i];
    outside += out[i];
    if (inside < least || outside < least) continue;
    bin.last = i + 1;
    bins.push_back(bin);
    bin.first = i + 1;
    inside = 0;
    outside = 0;
  }
  if (bin.first < in.size() && !bins.empty()) bins.back().last = in.size();
  return bins;
}

double quadratic_form(std::vector<double> covariance, std::vector<double> x, std::size_t& rank) {
  const std::size_t n = x.size();
  KV_CHECK(covariance.size() == n * n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, covariance[i * n + i]);
  rank = 0;
  double sum = 0;
  // Row by row: factor, and solve forward at once. The form is the squared length of the solution,
  // so that the inverse is never made.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = covariance[i * n + j];
      for (std::size_t m = 0; m < j; ++m) rest -= covariance[i * n + m] * covariance[j * n + m];
      const double pivot = covariance[j * n + j];
      covariance[i * n + j] = i == j ? rest : (pivot > 0 ? rest / pivot : 0);
    }
    double& pivot = covariance[i * n + i];
    // What is left of a direction without variance is rounding: dividing by it would be noise.
    if (pivot <= 1e-10 * largest) {
      pivot = 0;
      continue;
    }
    pivot = std::sqrt(pivot);
    double rest = x[i];
    for (std::size_t m = 0; m < i; ++m) rest -= covariance[i * n + m] * x[m];
    x[i] = rest / pivot;
    sum += x[i] * x[i];
    ++rank;
  }
  return sum;
}

}  // namespace kv::properties
