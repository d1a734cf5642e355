// The arithmetic of budgets=adaptive: which candidates of several units are evicted.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/base/position.h"

namespace kv {

// The candidates of one unit.
struct PooledUnit {
  std::span<const double> scores;       // [n]; the lowest are evicted, a NaN last
  std::span<const Position> positions;  // [n], strictly increasing
};

// For each unit the indices of its victims, increasing. mean * units.size() candidates are kept in
// all, or all of them if there are no more. The `floor` highest scores of a unit are never victims;
// among the others, those with the lowest scores are. Among equal scores the older token (of the
// lower position) is a victim first, and among equally old tokens the one of the last unit.
// Requires floor <= mean. Cost: O(n) over all units.
std::vector<std::vector<std::size_t>> lowest_of_pool(std::span<const PooledUnit> units,
                                                     std::size_t mean,
                                                     std::size_t floor);

}  // namespace kv
