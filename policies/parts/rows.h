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
  std::size_t kept = 0;
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    if (next < ranks.size() && ranks[next] == row) {
      ++next;
      continue;
    }
    if (kept != row) {
      std::copy_n(values.data() + row * width, width, values.data() + kept * width);
    }
    ++kept;
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
