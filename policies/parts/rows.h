// Rows of a fixed width per resident, by rank, for policies that keep more than one number each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"

namespace kv {

// Removes the rows at `ranks` (strictly increasing), keeping the order of the rest. Ranks beyond
// the end belong to tokens that were never observed and have no row. Requires whole rows.
template <typename T>
void erase_rows(std::vector<T>& values, std::span<const std::size_t> ranks, std::size_t width) {
  if (width == 0) return;
  const std::size_t rows = values.size() / width;
  std::size_t kept = ranks.empty() ? rows : std::min(ranks[0], rows);
  // The rows between two erased ones move as a whole.
  for (std::size_t i = 0; i < ranks.size() && ranks[i] < rows; ++i) {
    const std::size_t first = ranks[i] + 1;
    const std::size_t last = i + 1 < ranks.size() ? std::min(ranks[i + 1], rows) : rows;
    std::copy(values.data() + first * width, values.data() + last * width,
              values.data() + kept * width);
    kept += last - first;
  }
  values.resize(kept * width);
}

// The inner product and the 2-norm, in double.
inline double dot_of(std::span<const float> a, std::span<const float> b) {
  return kernels().dot_double(a.data(), b.data(), a.size());
}

inline double norm_of(std::span<const float> vector) {
  return std::sqrt(dot_of(vector, vector));
}

}  // namespace kv
