// A sweep: a replay's cells arranged for pictures, one line per policy over all its budgets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::reports {

// How a policy is drawn, in every figure alike.
struct Look {
  std::string_view colour;      // "#0072b2"
  std::string_view dash = "1";  // gnuplot's dashtype
  int point = 7;                // gnuplot's pointtype
};

// The look of a policy: its colour and marker by its place in the registry, its dash by `variant`,
// the number of earlier lines of the same policy with other options, which also changes the marker:
// the first twelve have one each. Colours are those of Okabe and
// Ito, told apart with any colour vision; the yellow is darkened to stand on white.
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
  std::vector<Line> lines;   // in the registry's order, then as the cells came
  std::uint32_t budget = 0;  // the middle one of those that most lines have; 0 if there is none

  // The line's spec at that budget, or its only one when it has no budget; null if there is none.
  [[nodiscard]] const SpecSummary* at_budget(const Line& line) const;

  // The cells of a spec, one per seed; never empty.
  [[nodiscard]] std::vector<const CellResult*> cells(const SpecSummary& spec) const;
};

// Whether a unit, filed under its first layer and head, also holds this head.
bool covers(
    const TraceInfo& trace, Unit kind, const Residency& unit, std::size_t layer, std::size_t head);

// The specs' lines, each with a label of its own; `specs` of a line are indices into both lists,
// which are equally long.
std::vector<Line> lines_of(std::span<const Spec> specs, std::span<const std::string> labels);

// Of the budgets that most of the specs have, the middle one; 0 if there is none.
std::uint32_t middle_budget(std::span<const Spec> specs);

// Requires `result` to outlive the sweep.
Sweep sweep_of(const ReplayResult& result);

}  // namespace kv::reports
