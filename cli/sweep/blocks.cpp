#include "kvcheck/cli/sweep/blocks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kvcheck/base/text/printable.h"
#include "kvcheck/base/text/text.h"

namespace kv::cli {

std::vector<Cell> cells_of(const SweepPlan& plan, const SweepBlock& block) {
  std::vector<Cell> cells;
  for (const std::size_t cell : block.cells) cells.push_back(plan.cells[cell]);
  return cells;
}

std::vector<SweepBlock> make_blocks(const SweepPlan& plan) {
  std::vector<SweepBlock> blocks;
  const std::size_t most_cells = plan.work->most_cells();
  const auto sources = plan.work->sources();
  for (std::size_t source = 0; source < sources.size(); ++source) {
    const std::vector<std::size_t>& cells = sources[source].cells;
    const std::size_t count = (cells.size() + most_cells - 1) / most_cells;
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = [&](std::size_t part) {
        return cells.begin() + static_cast<std::ptrdiff_t>(cells.size() * part / count);
      };
      SweepBlock block{.source = source, .cells = {at(i), at(i + 1)}, .cost = 0};
      block.cost = plan.work->cost(source, cells_of(plan, block));
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

Result<Shard> shard_of(const std::string& word) {
  constexpr std::uint64_t most = 100000;
  const Error wrong = usage_error("--shard is '" + printable_line(word) +
                                  "'; expected I/N, two counts with I from 1 to N, as in 1/4");
  const auto parts = split(word, '/');
  if (parts.size() != 2) return wrong;
  const auto count = parse_count(parts[1], "--shard", 1, most);
  if (!count) return wrong;
  const auto number = parse_count(parts[0], "--shard", 1, *count);
  if (!number) return wrong;
  return Shard{.number = *number, .count = *count};
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
                  [&](std::size_t cell) { return held({.source = block.source, .cell = cell}); });
    block.cost = plan.work->cost(block.source, cells_of(plan, block));
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
