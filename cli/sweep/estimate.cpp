#include "kvcheck/cli/sweep/estimate.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "kvcheck/cli/replay/replay_memory.h"
#include "kvcheck/cli/sweep/run_blocks.h"
#include "kvcheck/sim/replay/serves.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::cli {
namespace {

std::vector<Cell> cells_of(const SweepPlan& plan, const SweepBlock& block) {
  std::vector<Cell> cells;
  for (const std::size_t cell : block.cells) cells.push_back(plan.cells[cell]);
  return cells;
}

// Bytes of a row of each table, with the tree around it: from the sizes of files of two sweeps.
constexpr std::uint64_t of_cell = 60;
constexpr std::uint64_t of_summary = 105;
constexpr std::uint64_t of_head = 52;
constexpr std::uint64_t of_unit = 62;
constexpr std::uint64_t of_point = 76;
constexpr std::uint64_t of_bounds = 45;
constexpr std::uint64_t of_trace = 500;
constexpr std::uint64_t map_bytes = std::uint64_t{4} * 128 * 128;

std::uint64_t bytes_of_cell(const SweepPlan& plan, const Cell& cell, const TraceInfo& trace) {
  const std::uint64_t heads = trace.layers.size() * trace.query_heads;
  std::uint64_t bytes = of_cell + cell.spec.canonical().size() + cell.spec.label().size() +
                        cell.spec.policy->name.size();
  if (plan.text.detail == Detail::summary) {
    return bytes + of_summary + (plan.text.oracle ? of_bounds : 0);
  }
  bytes += heads * (of_head + of_unit + (plan.text.oracle ? of_bounds : 0));
  if (plan.text.detail == Detail::heads) return bytes;
  const std::uint64_t points = std::min<std::uint64_t>(trace.tokens, 1024);
  return bytes + points * of_point + 12 * std::uint64_t{trace.tokens};
}

}  // namespace

std::vector<MemoryNeed> sweep_needs(const SweepPlan& plan,
                                    std::span<const SweepBlock> blocks,
                                    std::size_t threads) {
  const ThreadShare share = share_threads(threads, blocks.size());
  const ReplayOptions options = block_options(plan, share.each);
  std::vector<MemoryNeed> most;
  for (const SweepBlock& block : blocks) {
    const auto cells = cells_of(plan, block);
    const std::string& source = plan.text.traces[block.trace];
    auto needs = replay_needs(plan.traces[block.trace].info, cells, options);
    for (MemoryNeed& need : source_needs(source)) needs.push_back({"streams", need.bytes});
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
  std::uint64_t bytes = 100000;  // of empty tables
  std::set<std::size_t> traces;
  for (const SweepBlock& block : blocks) {
    const TraceInfo& trace = plan.traces[block.trace].info;
    if (traces.insert(block.trace).second) {
      bytes += of_trace + map_bytes + of_head * trace.layers.size() * trace.query_heads;
    }
    for (const Cell& cell : cells_of(plan, block)) bytes += bytes_of_cell(plan, cell, trace);
  }
  return bytes;
}

Result<double> sweep_seconds(const SweepPlan& plan,
                             std::span<const SweepBlock> blocks,
                             std::size_t threads) {
  if (blocks.empty()) return 0.0;
  const auto spec = parse_synthetic("zipf:kind=qkv,tokens=256,heads=2");
  if (!spec) return spec.error();
  const Trace trace = make_synthetic(*spec);
  std::vector<Cell> cells;
  for (const Cell& cell : cells_of(plan, blocks.front())) {
    if (check_serves(trace, cell.spec)) cells.push_back(cell);
  }
  // Specs that need a prompt or a text are as slow as others.
  if (cells.empty()) cells.push_back({parse_spec("h2o", {.budget = 64}).value(), 1});
  const auto begun = std::chrono::steady_clock::now();
  const auto result = replay(trace, cells, block_options(plan, 1));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  if (!result) return result.error();
  double cost = 0;
  for (const SweepBlock& block : blocks) cost += block.cost;
  const auto share = static_cast<double>(std::max<std::size_t>(1, threads));
  return took.count() * cost / cost_of(trace.info(), cells.size()) / share;
}

}  // namespace kv::cli
