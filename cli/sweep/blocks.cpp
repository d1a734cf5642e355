#include "kvcheck/cli/sweep/blocks.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kv::cli {
namespace {

constexpr std::size_t most_cells = 16;

}  // namespace

double cost_of(const TraceInfo& trace, std::size_t cells) {
  const auto tokens = static_cast<double>(trace.tokens);
  const auto heads = static_cast<double>(trace.layers.size() * trace.query_heads);
  return heads * tokens * tokens * static_cast<double>(1 + cells);
}

std::vector<SweepBlock> make_blocks(const SweepPlan& plan) {
  std::vector<SweepBlock> blocks;
  for (std::size_t trace = 0; trace < plan.traces.size(); ++trace) {
    const std::vector<std::size_t>& cells = plan.traces[trace].cells;
    const std::size_t count = (cells.size() + most_cells - 1) / most_cells;
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = [&](std::size_t part) {
        return cells.begin() + static_cast<std::ptrdiff_t>(cells.size() * part / count);
      };
      SweepBlock block{.trace = trace, .cells = {at(i), at(i + 1)}, .cost = 0};
      block.cost = cost_of(plan.traces[trace].info, block.cells.size());
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

std::vector<SweepBlock> blocks_of(const Shard& shard, std::vector<SweepBlock> blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return blocks[a].cost > blocks[b].cost; });
  std::vector<double> costs(shard.count);
  std::vector<bool> ours(blocks.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(costs);
    *least += blocks[i].cost;
    ours[i] = static_cast<std::size_t>(least - costs.begin()) + 1 == shard.number;
  }
  std::vector<SweepBlock> selected;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (ours[i]) selected.push_back(std::move(blocks[i]));
  }
  return selected;
}

std::vector<SweepBlock> blocks_without(
    std::vector<SweepBlock> blocks,
    const SweepPlan& plan,
    const std::function<bool(const reports::SweepPlace& place)>& held) {
  for (SweepBlock& block : blocks) {
    std::erase_if(block.cells,
                  [&](std::size_t cell) { return held({.trace = block.trace, .cell = cell}); });
    block.cost = cost_of(plan.traces[block.trace].info, block.cells.size());
  }
  std::erase_if(blocks, [](const SweepBlock& block) { return block.cells.empty(); });
  return blocks;
}

std::size_t cells_in(std::span<const SweepBlock> blocks) {
  std::size_t cells = 0;
  for (const SweepBlock& block : blocks) cells += block.cells.size();
  return cells;
}

}  // namespace kv::cli
