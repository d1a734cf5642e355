#include "kvcheck/cli/sweep/run_blocks.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <vector>

#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/reports/numbers/summary.h"

namespace kv::cli {

void keep_detail(Detail detail, CellResult& cell) {
  // Which cells have a residency depends on the other cells of a replay.
  cell.residency = {};
  if (detail == Detail::series) return;
  cell.series = {};
  cell.kept = {};
  cell.lifetimes = {};
  if (detail == Detail::summary) reports::keep_summary(cell);
}

ReplayOptions block_options(const SweepPlan& plan, unsigned threads) {
  ReplayOptions options;
  options.threads = threads;
  options.top_k = plan.text.top_k;
  if (plan.text.detail != Detail::series) options.series_points = 1;
  options.residency_entries = 0;
  options.oracle = plan.text.oracle;
  options.oracle_tokens = plan.text.oracle_tokens;
  return options;
}

ThreadShare share_threads(std::size_t threads, std::size_t blocks) {
  const std::size_t at_once = std::clamp<std::size_t>(blocks, 1, threads);
  return {.blocks = at_once,
          .each = static_cast<unsigned>(std::max<std::size_t>(1, threads / at_once))};
}

Result<ReplayResult> replay_block(const SweepPlan& plan,
                                  const SweepBlock& block,
                                  const ReplayOptions& options) {
  const auto trace = plan.sources->open(block.trace);
  if (!trace) return trace.error();
  if ((*trace)->info().checksum != plan.traces[block.trace].info.checksum) {
    return malformed("'" + plan.text.traces[block.trace] + "' changed since the plan was read");
  }
  std::vector<Cell> cells;
  for (const std::size_t cell : block.cells) cells.push_back(plan.cells[cell]);
  auto result = replay(**trace, cells, options);
  if (!result) return result;
  for (CellResult& cell : result->cells) keep_detail(plan.text.detail, cell);
  return result;
}

Result<ReplayResult> try_block(const SweepPlan& plan,
                               const SweepBlock& block,
                               const ReplayOptions& options) {
  try {
    return replay_block(plan, block, options);
  } catch (const std::bad_alloc&) {
    return io_error("memory ran out");
  } catch (const std::exception& failure) {
    return io_error(failure.what());
  }
}

Result<void> run_blocks(const SweepPlan& plan,
                        std::span<const SweepBlock> blocks,
                        std::size_t threads,
                        const BlockHooks& hooks) {
  const ThreadShare share = share_threads(threads, blocks.size());
  SharedProgress progress(blocks, hooks.progress);
  std::mutex storing;
  const auto run_block = [&](const RunningTask& running) -> Result<void> {
    const SweepBlock& block = blocks[running.index()];
    const std::string& name = plan.traces[block.trace].info.name;
    if (progress.stopped() || running.stopped()) return {};
    ReplayOptions options = block_options(plan, share.each);
    options.progress = [&](double done) {
      return progress.update(running.index(), done, name) && !running.stopped();
    };
    const auto result = replay_block(plan, block, options);
    if (!result) {
      if (progress.stopped() || running.stopped()) return {};
      return result.error();
    }
    const std::lock_guard lock(storing);
    return hooks.done(block, *result);
  };
  if (auto done = run_tasks(blocks.size(), share.blocks, run_block); !done) return done;
  if (progress.stopped()) return Error{Error::Kind::busy, "stopped before all cells were finished"};
  return {};
}

}  // namespace kv::cli
