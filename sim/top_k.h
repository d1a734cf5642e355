// The k largest entries of an attention row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/position.h"

namespace kv {

// Finds the indices of the k largest values; of equals, the lower index is taken. Consecutive rows
// of attention look alike, so the last answer's values give a threshold that few entries of the
// next row pass: usually one scan and a sort of a few dozen. The answer never depends on what came
// before.
class TopK {
 public:
  explicit TopK(std::size_t k) : k_(k) {}

  // Strictly increasing indices, min(k, values.size()) of them. The span holds until the next call.
  std::span<const Position> find(std::span<const float> values);

 private:
  std::size_t k_;
  std::vector<Position> found_;
  std::vector<Position> above_;
};

}  // namespace kv
