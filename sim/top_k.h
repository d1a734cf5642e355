// The k largest entries of an attention row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/position.h"

namespace kv {

// Finds the indices of the k largest values; of equals, the lower index is taken. Consecutive rows
// of attention look alike, so the values at the last answer's indices give a threshold that few
// entries of the next row reach: usually one vector scan and a selection among a few dozen. The
// answer never depends on what came before.
class TopK {
 public:
  // Requires k > 0.
  explicit TopK(std::size_t k) : k_(k) {}

  // Strictly increasing indices, min(k, values.size()) of them. The span holds until the next call.
  // Requires values >= 0 without NaN.
  std::span<const Position> find(std::span<const float> values);

 private:
  void keep_largest(std::span<const float> values, std::span<const Position> enough);

  std::size_t k_;
  std::vector<Position> found_;
  std::vector<Position> at_;         // scratch
  std::vector<std::uint64_t> keys_;  // scratch
};

}  // namespace kv
