// Runs the blocks of a sweep on several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/sweep/block_progress.h"
#include "kvcheck/cli/sweep/blocks.h"
#include "kvcheck/reports/sweeps/sweep_results.h"

namespace kv::cli {

// A block, and what came of it.
struct FinishedBlock {
  const SweepBlock& block;
  const reports::SweepResult& result;
  double seconds = 0;  // that it took by the clock; infinite where another rank ran it
};

// Receives the blocks, never two at once. An error ends the work.
using BlockDone = std::function<Result<void>(const FinishedBlock& finished)>;

struct BlockHooks {
  BlockDone done;
  BlockProgress progress;
};

// How many blocks run at once, and on how many threads each.
struct ThreadShare {
  std::size_t blocks = 1;
  unsigned each = 1;
};

// So many blocks on so many threads; blocks that are timed run one by one, each on its own threads.
ThreadShare share_threads(const SweepPlan& plan, std::size_t threads, std::size_t blocks);

// Runs one block, where an exception (memory ran out, say) is an error too: for ranks, which must
// say so to the others.
Result<reports::SweepResult> try_block(const SweepPlan& plan,
                                       const SweepBlock& block,
                                       const WorkOptions& options);

// Runs all blocks. With fewer blocks than threads, each block runs on several. The
// results of a block do not depend on the other blocks or on threads. Errors: that of the first
// block that failed, of `done`, or that the work was stopped.
Result<void> run_blocks(const SweepPlan& plan,
                        std::span<const SweepBlock> blocks,
                        std::size_t threads,
                        const BlockHooks& hooks);

}  // namespace kv::cli
