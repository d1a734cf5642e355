// The k largest entries of an attention row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// Finds the indices of the k largest values above 0; among equal values the lower index is taken.
// Values of 0 are never included, even if fewer than k are left.
//
// Consecutive rows are similar. The smallest of this row's values at the previous answer's indices
// is therefore a lower bound that few entries reach, so one vector scan and a selection among a few
// dozen entries suffice. If many entries reach it, the k-th largest of the maxima of 32 interleaved
// parts of the row is tried as a bound too. The answer never depends on previous rows.
class TopK {
 public:
  // With k = 0 nothing is found, at no cost.
  explicit TopK(std::size_t k) : k_(k) {}

  // Strictly increasing indices: k, or as many as there are values above 0. The span is valid until
  // the next call. Requires values >= 0 without NaN.
  std::span<const Position> find(std::span<const float> values);

 private:
  void find_largest(std::span<const float> values);
  [[nodiscard]] float bound_by_last(std::span<const float> values) const;
  [[nodiscard]] float bound_by_parts(std::span<const float> values) const;
  void keep_largest(std::span<const float> values, std::span<const Position> enough);

  std::size_t k_;
  std::vector<Position> found_;
  std::vector<Position> at_;         // scratch
  std::vector<std::uint64_t> keys_;  // scratch
};

}  // namespace kv
