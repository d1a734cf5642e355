// A sweep: a replay's cells arranged for figures, with one line per policy over all its budgets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// How a policy is drawn; the same in every figure.
struct Look {
  std::string_view colour;      // "#0072b2"
  std::string_view dash = "1";  // gnuplot's dashtype
  int point = 7;                // gnuplot's pointtype
};

// The look of a policy. Its place in the registry decides the colour and the marker. `variant`, the
// number of earlier lines of the same policy with other options, decides the dash and changes the
// marker; the first twelve variants have different ones. Colours are those of Okabe and Ito, which
// can be distinguished with any colour vision; the yellow is darkened for a white background.
Look look_of(const PolicyEntry* policy, std::size_t variant);

// All specs with one label: the same policy and options under different budgets.
struct Line {
  std::string label;
  const PolicyEntry* policy = nullptr;
  Look look;
  std::vector<std::size_t> specs;  // indices into Sweep::specs, by budget
};

struct Sweep {
  const ReplayResult* result = nullptr;
  std::vector<SpecSummary> specs;
  std::vector<Line> lines;   // in the registry's order, then in that of the cells
  std::uint32_t budget = 0;  // the middle one of those that most lines have; 0 if there is none

  // The line's spec at that budget, or its only one if it has no budget; null if there is none.
  [[nodiscard]] const SpecSummary* at_budget(const Line& line) const;

  // The cells of a spec, one per seed; never empty.
  [[nodiscard]] std::vector<const CellResult*> cells(const SpecSummary& spec) const;
};

// Whether a unit, which is stored under its first layer and head, contains this head.
bool covers(
    const TraceInfo& trace, Unit kind, const Residency& unit, std::size_t layer, std::size_t head);

// The lines of the specs, one per label. The `specs` of a line are indices into both lists, which
// have one length.
std::vector<Line> lines_of(std::span<const Spec> specs, std::span<const std::string> labels);

// The middle one of the budgets that most specs have; 0 if no spec has a budget.
std::uint32_t middle_budget(std::span<const Spec> specs);

// Requires `result` to outlive the sweep.
Sweep sweep_of(const ReplayResult& result);

}  // namespace kv::reports
