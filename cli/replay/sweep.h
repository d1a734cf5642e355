// The cells of a replay: every policy at every budget with every seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// More cells than this in one replay are taken for a mistake: each holds results per token and
// head.
inline constexpr std::size_t max_cells = 4096;

struct Sweep {
  std::vector<std::string> policies;   // spec strings; "all" is every policy at its defaults
  std::vector<std::uint32_t> budgets;  // empty: those of the specs
  std::vector<std::uint64_t> seeds;    // at least one
  std::uint32_t chunk = 0;             // 0: those of the specs
  // A policy takes the budgets, one of these or one beside them in a plan. Specs that have a budget
  // of their own then keep it.
  bool budgets_are_taken = false;

  // Whether one of the policies has no budget of its own, so that those of the sweep are for it.
  [[nodiscard]] bool takes_budgets() const;
};

struct PlannedCell {
  Cell cell;
  bool default_budget = false;  // neither the spec nor the sweep states a budget
  bool from_all = false;        // of --policy all
};

// The cells by policy, then budget, then seed. A deterministic policy runs with the first seed only
// and one that never evicts at one budget only, as one that has a budget of its own does beside
// others that take the budgets. Errors: those of parse_spec, two arguments that name the same cell,
// and too many cells. They say which spec came from "all".
Result<std::vector<PlannedCell>> plan_cells(Sweep sweep);

// The policies of --policy all for which the trace does not have the facts (check_serves), each
// once. Returns an error if a cell that was named explicitly has such a policy, or if nothing is
// left to replay.
Result<std::vector<std::string>> unserved(std::span<const PlannedCell> cells, const Trace& trace);

// Whether the trace is long enough for the spec to leave a token out, or the spec never does.
bool fits(const Spec& spec, const TraceInfo& trace);

// Returns an error if a cell does not fit: its budget is above the number of tokens of the trace,
// so that it would never evict.
Result<void> check_fit(std::span<const PlannedCell> cells, const TraceInfo& trace);

// Whether any cell that evicts fits the trace, or none evicts at all.
bool fits_any(std::span<const PlannedCell> cells, const TraceInfo& trace);

// The budgets of the cells that do not fit the trace, and the specs that attend to more pages than
// it has, as one sentence that names the trace; empty if all fit.
std::string left_out_words(std::span<const PlannedCell> cells, const TraceInfo& trace);

}  // namespace kv::cli
