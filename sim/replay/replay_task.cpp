#include "kvcheck/sim/replay/replay_task.h"

#include <algorithm>

#include "kvcheck/sim/replay/dense_facts.h"

namespace kv {

DenseRows open_rows(const Plan& plan, const Lane& lane, std::shared_ptr<const KeyValues> shared) {
  return {plan.trace, lane.layer, lane.head, plan.options.top_k, std::move(shared), plan.rope};
}

std::shared_ptr<const KeyValues> open_key_values(const Plan& plan, const Lane& lane) {
  const TraceInfo& info = plan.trace.info();
  if (info.kind == TraceKind::attention) return nullptr;
  return std::make_shared<KeyValues>(plan.trace.layer(lane.layer), kv_head_of(info, lane.head),
                                     plan.rope);
}

std::vector<DenseRows> open_lanes(const Plan& plan, const std::vector<Lane>& lanes) {
  const TraceInfo& info = plan.trace.info();
  std::vector<DenseRows> rows;
  rows.reserve(lanes.size());
  std::shared_ptr<const KeyValues> shared;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool same = i > 0 && place_in_grid(info, lanes[i]) == place_in_grid(info, lanes[i - 1]);
    if (!same) shared = open_key_values(plan, lanes[i]);
    rows.push_back(open_rows(plan, lanes[i], shared));
  }
  return rows;
}

namespace {

// Replays one query of one task: every lane's row is loaded once and passed to every cell.
Result<void> replay_query(Position query,
                          std::vector<DenseRows>& rows,
                          std::vector<CellState>& cells,
                          std::vector<DenseFactsSums>& facts,
                          SeenRows& seen) {
  for (CellState& cell : cells) cell.begin_query(query);
  for (std::size_t lane = 0; lane < rows.size(); ++lane) {
    const Result<DenseRow> row = rows[lane].load(query);
    if (!row) return row.error();
    if (!facts.empty()) facts[lane].add(*row);
    for (CellState& cell : cells) cell.add_row(lane, *row, rows[lane], seen);
  }
  for (CellState& cell : cells) cell.end_query(query);
  return {};
}

// A policy that breaks its interface makes all results of the run invalid, so it is an error in
// every unit.
Result<void> check_promises(const std::vector<CellState>& cells) {
  for (const CellState& cell : cells) {
    if (Result<void> kept = cell.check_promises(); !kept) return kept;
  }
  return {};
}

}  // namespace

Result<void> run_task(const Plan& plan, Task& task, TaskProgress& progress) {
  const TraceInfo& info = plan.trace.info();
  std::vector<DenseRows> rows = open_lanes(plan, task.lanes);
  std::vector<CellState> cells;
  cells.reserve(task.last_cell - task.first_cell);
  const Lane last_layer = {info.layers.size() - 1, 0};
  const bool has_last_layer = std::ranges::find(task.lanes, last_layer) != task.lanes.end();
  const std::size_t residencies =
      plan.all_residency ? task.lanes.size() : static_cast<std::size_t>(has_last_layer);
  for (std::size_t i = task.first_cell; i < task.last_cell; ++i) {
    cells.emplace_back(CellInputs{.trace = plan.trace,
                                  .lanes = task.lanes,
                                  .cell = plan.cells[i],
                                  .classes = plan.classes,
                                  .rotation = plan.rotation,
                                  .series_width = plan.series_width,
                                  .residencies = plan.keep_residency[i] ? residencies : 0});
  }
  std::vector<DenseFactsSums> facts;
  if (task.first_of_group) facts.assign(task.lanes.size(), DenseFactsSums(info.tokens));
  SeenRows seen(plan.options.top_k);

  constexpr std::size_t report_every = 64;
  for (std::size_t query = 0; query < info.tokens; ++query) {
    // Every 64 queries only: reports take a lock, and checks visit every unit.
    const bool reports = (query + 1) % report_every == 0;
    Result<void> done = replay_query(static_cast<Position>(query), rows, cells, facts, seen);
    if (done && (reports || query + 1 == info.tokens)) done = check_promises(cells);
    if (!done) return done;
    if (reports && !progress.advance(report_every)) return {};
  }
  progress.advance(info.tokens % report_every);
  for (CellState& cell : cells) task.parts.push_back(cell.finish());
  for (std::size_t lane = 0; lane < facts.size(); ++lane) {
    const Lane& at = task.lanes[lane];
    task.facts.push_back(facts[lane].mean(info.layers[at.layer], at.head));
  }
  return {};
}

}  // namespace kv
