#include "kvcheck/cli/sweep/run_blocks.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>

#include "kvcheck/base/threads/run_tasks.h"

namespace kv::cli {

ThreadShare share_threads(const SweepPlan& plan, std::size_t threads, std::size_t blocks) {
  if (plan.work->timed()) return {};
  const std::size_t at_once = std::clamp<std::size_t>(blocks, 1, threads);
  return {.blocks = at_once,
          .each = static_cast<unsigned>(std::max<std::size_t>(1, threads / at_once))};
}

Result<reports::SweepResult> try_block(const SweepPlan& plan,
                                       const SweepBlock& block,
                                       const WorkOptions& options) {
  try {
    return plan.work->run(block.source, cells_of(plan, block), options);
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
  const ThreadShare share = share_threads(plan, threads, blocks.size());
  SharedProgress progress(blocks, hooks.progress);
  std::mutex storing;
  const auto run_block = [&](const RunningTask& running) -> Result<void> {
    const SweepBlock& block = blocks[running.index()];
    const std::string& name = plan.work->sources()[block.source].name;
    if (progress.stopped() || running.stopped()) return {};
    WorkOptions options{.threads = share.each};
    options.progress = [&](double done) {
      return progress.update(running.index(), done, name) && !running.stopped();
    };
    const auto begun = std::chrono::steady_clock::now();
    const auto result = plan.work->run(block.source, cells_of(plan, block), options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (!result) {
      if (progress.stopped() || running.stopped()) return {};
      return result.error();
    }
    const std::lock_guard lock(storing);
    return hooks.done({.block = block, .result = *result, .seconds = took.count()});
  };
  if (auto done = run_tasks(blocks.size(), share.blocks, run_block); !done) return done;
  if (progress.stopped()) return Error{Error::Kind::busy, "stopped before all cells were finished"};
  return {};
}

}  // namespace kv::cli
