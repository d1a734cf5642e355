#include "kvcheck/reports/tables/compared_runs.h"

#include <filesystem>

#include "kvcheck/reports/numbers/summary.h"
#include "kvcheck/reports/numbers/timed_medians.h"
#include "kvcheck/reports/tables/comparison_table.h"

namespace kv::reports {
namespace {

// `kvcheck record` names a trace's model by the last part of its path.
bool of_one_model(const ReplayResult& open, const ClosedLoopResult& closed) {
  const std::string& model = open.trace.model;
  return !model.empty() && std::filesystem::path(closed.model).filename() == model;
}

std::size_t common_specs(const ReplayResult& open, const ClosedLoopResult& closed) {
  if (!of_one_model(open, closed)) return 0;
  std::size_t count = 0;
  for (const SpecSummary& summary : summarise(open)) {
    if (!closed_cells_of(closed, summary.spec).empty()) ++count;
  }
  return count;
}

std::size_t timed_specs(const ReplayResult& open, const TimingResult& timed) {
  std::size_t count = 0;
  for (const SpecSummary& summary : summarise(open)) {
    if (longest_timed(&timed, summary.spec)) ++count;
  }
  return count;
}

}  // namespace

std::vector<const ClosedLoopCell*> closed_cells_of(const ClosedLoopResult& result,
                                                   const Spec& spec) {
  std::vector<const ClosedLoopCell*> cells;
  for (const ClosedLoopCell& cell : result.cells) {
    if (cell.cell.spec.canonical() == spec.canonical()) cells.push_back(&cell);
  }
  return cells;
}

std::optional<TimedCell> longest_timed(const TimingResult* result, const Spec& spec) {
  std::optional<TimedCell> longest;
  if (result == nullptr) return longest;
  for (const TimedSummary& summary : timed_summaries(*result)) {
    const TimedCell& cell = summary.median;
    const bool longer = !longest || cell.length > longest->length;
    if (cell.cell.spec.canonical() == spec.canonical() && longer) longest = cell;
  }
  return longest;
}

ComparedRuns runs_to_compare(std::span<const StoredRun> runs) {
  std::vector<const ReplayResult*> traces;
  std::vector<const ClosedLoopResult*> evaluations;
  std::vector<const TimingResult*> timings;
  for (const StoredRun& run : runs) {
    for (const ReplayResult& trace : run.traces) traces.push_back(&trace);
    for (const ClosedLoopResult& evaluation : run.evaluations) evaluations.push_back(&evaluation);
    for (const TimingResult& timing : run.timings) timings.push_back(&timing);
  }
  ComparedRuns best;
  std::size_t most = 1;
  for (const ReplayResult* trace : traces) {
    for (const ClosedLoopResult* evaluation : evaluations) {
      const std::size_t common = common_specs(*trace, *evaluation);
      if (common <= most) continue;
      most = common;
      best = {.open = trace, .closed = evaluation};
    }
  }
  if (best.open == nullptr) return best;
  std::size_t timed = 0;
  for (const TimingResult* timing : timings) {
    const std::size_t common = timed_specs(*best.open, *timing);
    if (common <= timed) continue;
    timed = common;
    best.timed = timing;
  }
  return best;
}

}  // namespace kv::reports
