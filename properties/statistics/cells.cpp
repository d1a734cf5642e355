#include "kvcheck/properties/statistics/cells.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/check.h"

namespace kv::properties {

std::vector<CellRange> pooled(std::span<const double> in,
                              std::span<const double> out,
                              double least) {
  KV_CHECK(in.size() == out.size());
  std::vector<CellRange> cells;
  CellRange cell;
  double inside = 0;
  double outside = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    inside += in[i];
    outside += out[i];
    if (inside < least || outside < least) continue;
    cell.last = i + 1;
    cells.push_back(cell);
    cell.first = i + 1;
    inside = 0;
    outside = 0;
  }
  if (cell.first < in.size() && !cells.empty()) cells.back().last = in.size();
  return cells;
}

double quadratic_form(std::vector<double> covariance, std::vector<double> x, std::size_t& rank) {
  const std::size_t n = x.size();
  KV_CHECK(covariance.size() == n * n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, covariance[i * n + i]);
  rank = 0;
  double sum = 0;
  // Row by row: factor, and solve forward at once.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = covariance[i * n + j];
      for (std::size_t m = 0; m < j; ++m) rest -= covariance[i * n + m] * covariance[j * n + m];
      const double pivot = covariance[j * n + j];
      covariance[i * n + j] = i == j ? rest : (pivot > 0 ? rest / pivot : 0);
    }
    double& pivot = covariance[i * n + i];
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
