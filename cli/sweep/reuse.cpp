#include "kvcheck/cli/sweep/reuse.h"

#include <array>
#include <utility>

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

}  // namespace

Result<std::size_t> reuse_earlier(const SweepPlan& plan,
                                  std::span<const SweepBlock> blocks,
                                  reports::SweepFile& file) {
  std::size_t reused = 0;
  const auto* const replays = dynamic_cast<const ReplayWork*>(plan.work.get());
  if (replays == nullptr || plan.text.oracle) return reused;
  for (const SweepBlock& block : blocks) {
    const TraceInfo& trace = replays->info(block.source);
    const std::size_t width = replays->series_width(block.source);
    for (const std::size_t index : block.cells) {
      const auto spec = resolved_for(trace, plan.cells[index].spec);
      if (!spec) return spec.error();
      auto earlier = file.earlier(trace, plan.text.top_k, {*spec, plan.cells[index].seed});
      if (!earlier) return earlier.error();
      if (!*earlier || !has_detail(plan.text.detail, **earlier, width)) continue;
      ReplayResult& result = **earlier;
      result.series_width = width;
      result.cells.front().bounds = {};
      keep_detail(plan.text.detail, result.cells.front());
      const std::array<std::size_t, 1> place = {index};
      if (const auto added = file.add(block.source, place, result); !added) return added.error();
      ++reused;
    }
  }
  return reused;
}

}  // namespace kv::cli
