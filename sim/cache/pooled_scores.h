// Which candidates of several units are evicted: the part of budgets=adaptive that is arithmetic.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// What one unit puts into the pool.
struct PooledUnit {
  std::span<const double> scores;       // [n], none NaN; the lowest are evicted
  std::span<const Position> positions;  // [n], strictly increasing
};

// For each unit the indices of its victims, increasing, so that mean * units.size() candidates stay
// in all, or all where there are no more. A unit's `floor` highest are never victims; of the others
// the lowest are; among equals the older (of the lower position), and of those equally old the one
// of the last unit. Requires floor <= mean. Cost: O(n) over all units.
std::vector<std::vector<std::size_t>> lowest_of_pool(std::span<const PooledUnit> units,
                                                     std::size_t mean,
                                                     std::size_t floor);

}  // namespace kv
