#include "kvcheck/cli/sweep/estimate.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>

#include "kvcheck/cli/sweep/run_blocks.h"

namespace kv::cli {

std::string source_words(const PlanText& plan) {
  constexpr std::array<std::string_view, 4> words = {"trace", "text", "task file", "length"};
  const bool timed = plan.kind == reports::SweepKind::speed;
  const std::size_t count = timed ? plan.times.lengths.size() : plan.sources.size();
  return std::to_string(count) + " " + std::string(words[static_cast<std::size_t>(plan.kind)]) +
         (count == 1 ? "" : "s");
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<unsigned long>(seconds + 0.5);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60,
                whole % 60);
  return text.data();
}

std::vector<MemoryNeed> sweep_needs(const SweepPlan& plan,
                                    std::span<const SweepBlock> blocks,
                                    std::size_t threads) {
  const ThreadShare share = share_threads(plan, threads, blocks.size());
  std::vector<MemoryNeed> most;
  for (const SweepBlock& block : blocks) {
    auto needs = plan.work->needs(block.source, cells_of(plan, block), share.each);
    needs.resize(std::max(needs.size(), most.size()));
    most.resize(needs.size());
    for (std::size_t i = 0; i < needs.size(); ++i) {
      most[i].what = std::max(most[i].what, needs[i].what);
      most[i].bytes = std::max(most[i].bytes, needs[i].bytes);
    }
  }
  // The first need is the program's own, of which there is one.
  for (std::size_t i = 1; i < most.size(); ++i) most[i].bytes *= share.blocks;
  return most;
}

std::uint64_t sweep_bytes(const SweepPlan& plan, std::span<const SweepBlock> blocks) {
  std::uint64_t bytes = 168000;  // of empty tables
  std::set<std::size_t> sources;
  for (const SweepBlock& block : blocks) {
    if (sources.insert(block.source).second) bytes += plan.work->bytes_of_source(block.source);
    for (const Cell& cell : cells_of(plan, block)) {
      bytes += plan.work->bytes_of_cell(block.source, cell);
    }
  }
  return bytes;
}

Result<std::size_t> leave_out_held(const std::string& file,
                                   const SweepPlan& plan,
                                   std::vector<SweepBlock>& blocks) {
  if (file.empty()) return std::size_t{0};
  const auto held = reports::places_held(file, plan.identity);
  if (!held) return held.error();
  std::set<std::pair<std::size_t, std::size_t>> places;
  for (const reports::SweepPlace& place : *held) places.emplace(place.source, place.cell);
  const std::size_t all = cells_in(blocks);
  blocks = blocks_without(std::move(blocks), plan, [&](const reports::SweepPlace& place) {
    return places.contains({place.source, place.cell});
  });
  return all - cells_in(blocks);
}

namespace {

// Of a cell, to put its rows into the file. With it the estimates for 301,000 and 86,000 summaries
// of short traces came within a fifth of their processor time on an AMD EPYC (family 25). One
// thread writes.
constexpr double seconds_to_write = 2e-5;

// As many cells as the first block has, from all over the plan: its first specs may be the fast
// ones.
std::vector<Cell> spread_cells(const SweepPlan& plan, std::span<const SweepBlock> blocks) {
  const std::size_t count = blocks.front().cells.size();
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < count; ++i) {
    const auto of_block = cells_of(plan, blocks[(2 * i + 1) * blocks.size() / (2 * count)]);
    cells.push_back(of_block[i % of_block.size()]);
  }
  return cells;
}

}  // namespace

Result<double> sweep_seconds(const SweepPlan& plan,
                             std::span<const SweepBlock> blocks,
                             std::size_t threads) {
  if (blocks.empty()) return 0.0;
  const std::size_t middle = blocks[blocks.size() / 2].source;
  const auto pace = plan.work->pace(middle, spread_cells(plan, blocks));
  if (!pace) return pace;
  double cost = 0;
  for (const SweepBlock& block : blocks) cost += block.cost;
  if (plan.work->timed()) return *pace * cost;
  return *pace * cost / static_cast<double>(std::max<std::size_t>(1, threads)) +
         seconds_to_write * static_cast<double>(cells_in(blocks));
}

}  // namespace kv::cli
