// A sweep: a replay's cells arranged for figures, with one line per policy over all its budgets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/numbers/lines.h"
#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

struct Sweep {
  const ReplayResult* result = nullptr;
  std::vector<SpecSummary> specs;
  std::vector<Line>
      lines;    // in the order of the cells; of more than seven, those that keep most at
                // `budget` are highlighted
  Page page{};  // of figures
  std::uint32_t budget = 0;  // the middle one of those that most lines have; 0 if there is none

  // The line's spec at that budget, or its only one if it has no budget; null if there is none.
  [[nodiscard]] const SpecSummary* at_budget(const Line& line) const;

  // The cells of a spec, one per seed; never empty.
  [[nodiscard]] std::vector<const CellResult*> cells(const SpecSummary& spec) const;
};

// Whether a unit, which is stored under its first layer and head, contains this head.
bool covers(
    const TraceInfo& trace, Unit kind, const Residency& unit, std::size_t layer, std::size_t head);

// Requires `result` to outlive the sweep.
Sweep sweep_of(const ReplayResult& result);

}  // namespace kv::reports
