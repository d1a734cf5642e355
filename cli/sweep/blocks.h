// Blocks: cells of one source that are run together. They are what threads, shards and machines
// divide.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/sweep/plan/sweep_plan.h"

namespace kv::cli {

struct SweepBlock {
  std::size_t source = 0;          // its index in the plan
  std::vector<std::size_t> cells;  // indices into SweepPlan::cells, increasing
  double cost = 0;                 // in a unit that depends on the machine
};

// The cells of every source in blocks of up to PlannedWork::most_cells(). They depend on the plan
// alone.
std::vector<SweepBlock> make_blocks(const SweepPlan& plan);

// The cells of the block.
std::vector<Cell> cells_of(const SweepPlan& plan, const SweepBlock& block);

// One of n shards.
struct Shard {
  std::size_t number = 1;  // from 1
  std::size_t count = 1;
};

// The shard that a word such as 1/4 means. Error: it means none.
Result<Shard> shard_of(const std::string& word);

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
