// Bins: neighbours pooled until an approximation by chi-square holds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kv::properties {

// A run of neighbouring items.
struct BinRange {
  std::size_t first = 0;
  std::size_t last = 0;  // one past

  [[nodiscard]] std::size_t size() const { return last - first; }
};

// Pools items from the first on until each bin expects at least `least` of `in` and of `out`; what
// is left over joins the last bin. [items] each.
std::vector<BinRange> pooled(std::span<const double> in, std::span<const double> out, double least);

// x' C^-1 x for a positive definite C, [n * n] row by row, by Cholesky's factor. Directions without
// variance are left out. `rank` receives how many are left. Cost: n^3 / 6.
double quadratic_form(std::vector<double> covariance, std::vector<double> x, std::size_t& rank);

}  // namespace kv::properties
