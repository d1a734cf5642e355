#include "kvcheck/cli/sweep/run_blocks.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/reports/numbers/summary.h"

namespace kv::cli {
namespace {

// The share of the work that all threads have done.
class SharedProgress {
 public:
  SharedProgress(std::span<const SweepBlock> blocks, const BlockProgress& report)
      : blocks_(blocks), report_(report), done_(blocks.size()) {
    for (const SweepBlock& block : blocks) total_ += block.cost;
  }

  // The block is done up to this share. Returns whether the work continues.
  bool update(std::size_t block, double share, const std::string& trace) {
    const std::lock_guard lock(mutex_);
    cost_ += (share - done_[block]) * blocks_[block].cost;
    done_[block] = share;
    if (!stopped_ && report_ && !report_(cost_ / total_, trace)) stopped_ = true;
    return !stopped_;
  }

  [[nodiscard]] bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  std::span<const SweepBlock> blocks_;
  const BlockProgress& report_;
  double total_ = 0;
  mutable std::mutex mutex_;  // of all below
  std::vector<double> done_;
  double cost_ = 0;
  bool stopped_ = false;
};

}  // namespace

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
