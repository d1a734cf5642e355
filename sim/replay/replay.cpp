#include "kvcheck/sim/replay/replay.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/threads/machine.h"
#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/sim/cache/visible_limits.h"
#include "kvcheck/sim/replay/dense_facts.h"
#include "kvcheck/sim/replay/replay_join.h"
#include "kvcheck/sim/replay/replay_oracle.h"
#include "kvcheck/sim/replay/replay_task.h"
#include "kvcheck/sim/replay/serves.h"

namespace kv {
namespace {

constexpr std::size_t map_side = 128;

// The widest unit over which some cell shares residents or a budget. It determines the groups of
// heads that are replayed together.
Unit widest_unit(std::span<const Cell> cells) {
  Unit widest = Unit::kv_head;
  for (const Cell& cell : cells) {
    widest = std::max(widest, cell.spec.budgets.shared() ? Unit::layer : cell.spec.unit);
  }
  return widest;
}

std::vector<Task> make_tasks(const Plan& plan, std::size_t threads) {
  const TraceInfo& info = plan.trace.info();
  std::vector<Lane> all;
  for (std::size_t layer = 0; layer < info.layers.size(); ++layer) {
    for (std::size_t head = 0; head < info.query_heads; ++head) all.push_back({layer, head});
  }
  const std::vector<UnitShape> groups = units_of(info, all, widest_unit(plan.cells));
  // With fewer groups than threads the cells are divided too. Rows are then loaded once per share.
  const std::size_t shares = std::clamp<std::size_t>(threads / groups.size(), 1, plan.cells.size());
  std::vector<Task> tasks;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::size_t share = 0; share < shares; ++share) {
      Task task;
      for (const std::size_t lane : groups[group].lanes) task.lanes.push_back(all[lane]);
      task.group = group;
      task.first_cell = plan.cells.size() * share / shares;
      task.last_cell = plan.cells.size() * (share + 1) / shares;
      task.first_of_group = share == 0;
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

// The class of every token, if a cell's policy needs it.
std::vector<TokenClass> classes_for(const Trace& trace, std::span<const Cell> cells) {
  const auto asks = [](const Cell& cell) { return needs_of(cell.spec).token_classes; };
  return std::ranges::any_of(cells, asks) ? token_classes(trace) : std::vector<TokenClass>();
}

// Of a trace of all queries nothing depends on where losses begin, which takes time to find.
std::vector<QueryWeights> weights_of(const TraceInfo& info, std::span<const Cell> cells) {
  std::vector<QueryWeights> weights;
  for (const Cell& cell : cells) {
    const bool sampled = samples_queries(info);
    weights.emplace_back(
        info, sampled ? first_loss(cell.spec, grid_of(info), info.layers, info.tokens).query : 0);
  }
  return weights;
}

Plan make_plan(const Trace& trace, std::span<const Cell> cells, const ReplayOptions& options) {
  const TraceInfo& info = trace.info();
  // Attention rows are recorded after rotation, so their traces need no table.
  const std::size_t positions = info.kind == TraceKind::qkv ? info.tokens : 0;
  return {.trace = trace,
          .cells = cells,
          .options = options,
          .rotations = TraceRotations(info, positions),
          .classes = classes_for(trace, cells),
          .series_width = (info.tokens + options.series_points - 1) / options.series_points,
          .weights = QueryWeights(info, 0),
          .cell_weights = weights_of(info, cells),
          .recorded = recorded_units(info, cells, options.residency_entries)};
}

Result<void> check_cells(const Trace& trace, std::span<const Cell> cells) {
  for (const Cell& cell : cells) {
    if (Result<void> served = check_serves(trace, cell.spec); !served) return served;
  }
  return {};
}

// The cells with the sizes that the marks of this trace give them.
Result<std::vector<Cell>> resolved_cells(const Trace& trace, std::span<const Cell> cells) {
  std::vector<Cell> own;
  for (const Cell& cell : cells) {
    Result<Spec> spec = resolved_for(trace.info(), cell.spec);
    if (!spec) return spec.error();
    own.push_back({*std::move(spec), cell.seed});
  }
  return own;
}

Result<void> check_bounds(const TraceInfo& info, const ReplayOptions& options) {
  if (!options.oracle || info.queries.empty()) return {};
  return usage_error("'" + info.name + "' records " + std::to_string(info.queries.size()) + " of " +
                     std::to_string(info.tokens) +
                     " queries, and bounds need the attention of all; expected a trace of all "
                     "queries, or no bounds");
}

// The map of the head with the most attention on its first token. It reads all rows of that head,
// and is therefore a part that is kept.
Result<AttentionMap> map_of(const Plan& plan, const DenseFacts& facts) {
  const TraceInfo& info = plan.trace.info();
  if (auto kept = kept_map(plan); kept && kept->layer == facts.layer && kept->head == facts.head &&
                                  kept->block == (info.tokens + map_side - 1) / map_side) {
    return *std::move(kept);
  }
  const auto layer = std::ranges::find(info.layers, facts.layer) - info.layers.begin();
  const Lane lane = {static_cast<std::size_t>(layer), facts.head};
  DenseRows rows = open_rows(plan, lane, open_key_values(plan, lane));
  Result<AttentionMap> map = attention_map(rows, info, map_side);
  if (!map) return map;
  map->layer = facts.layer;
  map->head = facts.head;
  if (plan.options.parts != nullptr) plan.options.parts->keep({{map_key, bytes_of(*map)}});
  return map;
}

}  // namespace

Result<ReplayResult> replay(const Trace& trace,
                            std::span<const Cell> specified,
                            const ReplayOptions& options) {
  KV_CHECK(!specified.empty() && options.series_points > 0);
  if (Result<void> fits = check_bounds(trace.info(), options); !fits) return fits.error();
  if (Result<void> fits = check_cells(trace, specified); !fits) return fits.error();
  const auto cells = resolved_cells(trace, specified);
  if (!cells) return cells.error();
  const Plan plan = make_plan(trace, *cells, options);
  const std::size_t threads = options.threads > 0 ? options.threads : machine_threads();
  std::vector<Task> tasks = make_tasks(plan, threads);
  std::vector<OracleTask> oracle = make_oracle_tasks(plan);
  Progress progress(options.progress,
                    tasks.size() * trace.info().tokens + oracle_work(plan, oracle));

  Joiner joiner(plan, tasks);
  // Tasks begin in order, so that few finished tasks have to wait in the joiner.
  Result<void> done = run_tasks(tasks.size(), threads, [&](const RunningTask& running) {
    TaskProgress own(progress, running);
    Result<void> replayed = run_task(plan, tasks[running.index()], own);
    if (replayed) joiner.finished(running.index());
    return replayed;
  });
  if (!done) return done.error();
  done = run_tasks(oracle.size(), threads, [&](const RunningTask& running) {
    TaskProgress own(progress, running);
    return run_oracle_task(plan, oracle[running.index()], own);
  });
  if (!done) return done.error();
  if (progress.stopped()) return Error{Error::Kind::busy, "stopped before the replay was finished"};

  ReplayResult result = joiner.result();
  add_bounds(oracle, result.cells);
  Result<AttentionMap> map = map_of(plan, most_sink(result.dense));
  if (!map) return map.error();
  result.map = std::move(*map);
  if (Result<void> same = trace.unchanged(); !same) return same.error();
  return result;
}

}  // namespace kv
