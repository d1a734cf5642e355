#include "kvcheck/sim/cache/pooled_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "kvcheck/base/check.h"

namespace kv {
namespace {

struct Candidate {
  double score;
  Position position;
  std::size_t unit;
  std::size_t index;

  // Units are compared the other way round: among equals the one of the last unit is evicted first.
  [[nodiscard]] bool is_evicted_before(const Candidate& other) const {
    return std::tuple(score, position, other.unit) < std::tuple(other.score, other.position, unit);
  }
};

bool is_evicted_before(const Candidate& a, const Candidate& b) {
  return a.is_evicted_before(b);
}

// Adds the unit's candidates without its `floor` highest, which are never victims.
void add_contested(const PooledUnit& unit,
                   std::size_t number,
                   std::size_t floor,
                   std::vector<Candidate>& contested) {
  const std::size_t n = unit.scores.size();
  KV_CHECK(unit.positions.size() == n);
  if (n <= floor) return;
  const auto begin = static_cast<std::ptrdiff_t>(contested.size());
  for (std::size_t i = 0; i < n; ++i) {
    // Without an order among all scores nth_element may leave its range, so a NaN is the largest.
    const double score =
        std::isnan(unit.scores[i]) ? std::numeric_limits<double>::infinity() : unit.scores[i];
    contested.push_back({score, unit.positions[i], number, i});
  }
  if (floor == 0) return;
  const auto first = contested.begin() + begin;
  std::nth_element(first, contested.end() - static_cast<std::ptrdiff_t>(floor), contested.end(),
                   is_evicted_before);
  contested.resize(contested.size() - floor);
}

}  // namespace

std::vector<std::vector<std::size_t>> lowest_of_pool(std::span<const PooledUnit> units,
                                                     std::size_t mean,
                                                     std::size_t floor) {
  KV_CHECK(floor <= mean);
  std::vector<std::vector<std::size_t>> victims(units.size());
  std::size_t all = 0;
  for (const PooledUnit& unit : units) all += unit.scores.size();
  const std::size_t places = mean * units.size();
  if (all <= places) return victims;
  std::vector<Candidate> contested;
  contested.reserve(all);
  for (std::size_t i = 0; i < units.size(); ++i) add_contested(units[i], i, floor, contested);
  const auto end = contested.begin() + static_cast<std::ptrdiff_t>(all - places);
  // nth_element suffices: within a unit, victims are sorted by index below.
  if (end != contested.end()) {
    std::nth_element(contested.begin(), end, contested.end(), is_evicted_before);
  }
  for (auto it = contested.begin(); it != end; ++it) victims[it->unit].push_back(it->index);
  for (std::vector<std::size_t>& of_unit : victims) std::ranges::sort(of_unit);
  return victims;
}

}  // namespace kv
