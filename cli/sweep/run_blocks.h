// Replays the blocks of a sweep on several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/sweep/block_progress.h"
#include "kvcheck/cli/sweep/blocks.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// Receives the cells of a block, never two at once. An error ends the work.
using BlockDone = std::function<Result<void>(const SweepBlock& block, const ReplayResult& result)>;

struct BlockHooks {
  BlockDone done;
  BlockProgress progress;
};

// Leaves of the cell what the plan keeps.
void keep_detail(Detail detail, CellResult& cell);

// The options of the replay of a block of this plan on one or more threads.
ReplayOptions block_options(const SweepPlan& plan, unsigned threads);

// How many blocks run at once, and on how many threads each.
struct ThreadShare {
  std::size_t blocks = 1;
  unsigned each = 1;
};

ThreadShare share_threads(std::size_t threads, std::size_t blocks);

// Replays one block. Errors: those of PlannedTraces::open and of replay().
Result<ReplayResult> replay_block(const SweepPlan& plan,
                                  const SweepBlock& block,
                                  const ReplayOptions& options);

// The same, where an exception (memory ran out, say) is an error too: for ranks, which must say so
// to the others.
Result<ReplayResult> try_block(const SweepPlan& plan,
                               const SweepBlock& block,
                               const ReplayOptions& options);

// Replays all blocks. With fewer blocks than threads, each block is replayed on several. The
// results of a block do not depend on the other blocks or on threads. Errors: that of the first
// block that failed, of `done`, or that the work was stopped.
Result<void> run_blocks(const SweepPlan& plan,
                        std::span<const SweepBlock> blocks,
                        std::size_t threads,
                        const BlockHooks& hooks);

}  // namespace kv::cli
