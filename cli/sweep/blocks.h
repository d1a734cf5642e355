// Blocks: cells of one trace that are replayed together, so that each row of attention is read once
// for all of them. Blocks are what threads, shards and machines divide.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "kvcheck/cli/sweep/sweep_plan.h"

namespace kv::cli {

struct SweepBlock {
  std::size_t trace = 0;           // its index in the plan
  std::vector<std::size_t> cells;  // indices into SweepPlan::cells, increasing
  double cost = 0;                 // of its replay, in a unit that depends on the machine
};

// The cost of a replay of so many cells: it is proportional to the pairs of queries and keys of all
// heads, and a cell costs about as much as the dense rows do.
double cost_of(const TraceInfo& trace, std::size_t cells);

// The cells of every trace in blocks of up to 16. They depend on the plan alone. A block of many
// cells reads its trace less often; one of few is sooner finished, and easier to deal.
std::vector<SweepBlock> make_blocks(const SweepPlan& plan);

// One of n shards.
struct Shard {
  std::size_t number = 1;  // from 1
  std::size_t count = 1;
};

// The blocks of the shard, in order. Each block is given, the most costly first, to the shard with
// the least cost so far; so every block is in one shard, and all shards cost about the same.
std::vector<SweepBlock> blocks_of(const Shard& shard, std::vector<SweepBlock> blocks);

// The blocks without the cells for which `held` is true; blocks without any are left out.
std::vector<SweepBlock> blocks_without(
    std::vector<SweepBlock> blocks,
    const SweepPlan& plan,
    const std::function<bool(const reports::SweepPlace& place)>& held);

// The cells of all the blocks.
std::size_t cells_in(std::span<const SweepBlock> blocks);

}  // namespace kv::cli
