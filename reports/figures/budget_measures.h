// What the figures of a budget show of each policy: shares, and what they lack of a whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/numbers/sweep.h"
#include "kvcheck/reports/plot/figure.h"

namespace kv::reports {

// One panel: a metric of a spec, or 1 minus that metric.
struct BudgetMeasure {
  Interval AfterLossSummary::*metric = nullptr;
  bool lost = false;
  bool logarithmic = false;  // and without bars: their lower ends may be below zero
  const char* name = "";     // in the CSV
  const char* label = "";
  const char* short_label = "";  // for a low panel

  [[nodiscard]] Interval of(const SpecSummary& spec) const;
};

// Those that some of the lines have.
std::vector<BudgetMeasure> measures_of(const Sweep& sweep, const std::vector<Line>& lines);

// Leaves the first `panels` measures. Returns what a caption says of the others.
std::string keep_first(std::size_t panels, std::vector<BudgetMeasure>& measures);

// What the measures are, what was replayed, and which of the lines' caches are larger than the
// budget at which they are drawn. `bars` follows "on the linear axes": whose bars are drawn.
std::string measures_caption(const Sweep& sweep,
                             const std::vector<BudgetMeasure>& measures,
                             const std::vector<Line>& lines,
                             std::string_view bars);

// The figure of lines that all have one budget: a row for each, in descending order of retained
// mass. On a page of limited height it has as many rows and panels as fit, and its caption says so.
// Requires at least one line.
Figure one_budget_figure(const Sweep& sweep, const std::vector<Line>& lines);

}  // namespace kv::reports
