#include "kvcheck/cli/sweep/reuse.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "kvcheck/cli/sweep/plan/replay_work.h"
#include "kvcheck/sim/replay/serves.h"

namespace kv::cli {
namespace {

// Whether the earlier result has what the plan keeps. A series depends on its width.
bool has_detail(Detail detail, const ReplayResult& earlier, std::size_t series_width) {
  const CellResult& cell = earlier.cells.front();
  if (detail == Detail::summary) return true;
  if (cell.summary || cell.heads.empty()) return false;
  return detail == Detail::heads || (!cell.series.empty() && earlier.series_width == series_width);
}

// The cell of a replay, if a run holds it.
Result<std::optional<reports::SweepResult>> replayed(const SweepPlan& plan,
                                                     const ReplayWork& work,
                                                     const reports::SweepPlace& place,
                                                     reports::SweepFile& file) {
  const TraceInfo& trace = work.info(place.source);
  const std::size_t width = work.series_width(place.source);
  const Cell& cell = plan.cells[place.cell];
  const auto spec = resolved_for(trace, cell.spec);
  if (!spec) return spec.error();
  auto earlier = file.earlier(trace, plan.text.top_k, {*spec, cell.seed});
  if (!earlier) return earlier.error();
  if (!*earlier || !has_detail(plan.text.detail, **earlier, width)) {
    return std::optional<reports::SweepResult>();
  }
  ReplayResult& result = **earlier;
  result.series_width = width;
  result.cells.front().bounds = {};
  keep_detail(plan.text.detail, result.cells.front());
  return std::optional<reports::SweepResult>(std::move(result));
}

// The cell of an evaluation or of tasks, under the name that its source has in the plan.
Result<std::optional<reports::SweepResult>> evaluated(const SweepPlan& plan,
                                                      const reports::SweepPlace& place,
                                                      reports::SweepFile& file) {
  const std::uint64_t inputs = plan.work->inputs_of_cells(place.source);
  if (inputs == 0) return std::optional<reports::SweepResult>();
  auto earlier = file.earlier(inputs, plan.cells[place.cell]);
  if (!earlier || !*earlier) return earlier;
  const std::string& name = plan.text.sources[place.source / plan.text.cuts.windows.size()];
  if (auto* const text = std::get_if<ClosedLoopResult>(&**earlier)) text->text = name;
  if (auto* const items = std::get_if<TaskResult>(&**earlier)) items->file = name;
  return earlier;
}

}  // namespace

Result<std::size_t> reuse_earlier(const SweepPlan& plan,
                                  std::span<const SweepBlock> blocks,
                                  reports::SweepFile& file) {
  std::size_t reused = 0;
  const auto* const replays = dynamic_cast<const ReplayWork*>(plan.work.get());
  if (replays != nullptr && plan.text.oracle) return reused;
  for (const SweepBlock& block : blocks) {
    for (const std::size_t index : block.cells) {
      const reports::SweepPlace place{.source = block.source, .cell = index};
      const auto earlier =
          replays != nullptr ? replayed(plan, *replays, place, file) : evaluated(plan, place, file);
      if (!earlier) return earlier.error();
      if (!*earlier) continue;
      const auto added = file.add(block.source, std::span(&index, 1), **earlier);
      if (!added) return added.error();
      ++reused;
    }
  }
  return reused;
}

}  // namespace kv::cli
