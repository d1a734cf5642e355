#include "kvcheck/reports/explorer/telling_cache.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/reports/explorer/explorer.h"

namespace kv::reports {
namespace {

bool has_scores(const ExplorerSteps& steps) {
  const auto scored = [](const ScoredPosition& victim) { return std::isfinite(victim.score); };
  return std::ranges::any_of(steps.decisions, [&](const Decision& one) {
    return std::ranges::any_of(one.victims, scored);
  });
}

// Whether the cache evicts other tokens than the oldest after its sinks.
bool selects(const Residency& unit, std::size_t sinks) {
  const auto& at = unit.evicted_at;
  for (std::size_t p = sinks + 1; p < at.size(); ++p) {
    if (at[p] < at[p - 1]) return true;
  }
  return false;
}

// How much a reader sees.
int interest(const CellResult& cell, const Residency& unit, const ExplorerSteps* steps) {
  if (steps != nullptr && has_scores(*steps)) return 3;
  if (selects(unit, cell.cell.spec.sinks)) return 2;
  const std::size_t tokens = unit.evicted_at.size();
  return std::ranges::any_of(unit.evicted_at, [&](Position at) { return at <= tokens; }) ? 1 : 0;
}

}  // namespace

TellingCache telling_cache(const ReplayResult& result, const ExplorerTrace* own) {
  TellingCache best;
  int most = -1;
  for (std::size_t i = 0; i < result.cells.size(); ++i) {
    const CellResult& cell = result.cells[i];
    const auto steps = [&](const Residency& unit) { return steps_of(own, i, unit); };
    const bool any = std::ranges::any_of(cell.residency,
                                         [&](const auto& unit) { return steps(unit) != nullptr; });
    for (std::size_t unit = 0; unit < cell.residency.size(); ++unit) {
      const ExplorerSteps* const known = steps(cell.residency[unit]);
      if (any ? known == nullptr : unit > 0) continue;
      const int seen = interest(cell, cell.residency[unit], known);
      if (seen <= most) continue;
      most = seen;
      best = {i, unit};
    }
  }
  return best;
}

const ExplorerSteps* steps_of(const ExplorerTrace* own, std::size_t cell, const Residency& unit) {
  if (own == nullptr) return nullptr;
  const auto found = std::ranges::find_if(own->steps, [&](const ExplorerSteps& one) {
    return one.cell == cell && one.layer == unit.layer && one.head == unit.head;
  });
  return found == own->steps.end() ? nullptr : &*found;
}

}  // namespace kv::reports
