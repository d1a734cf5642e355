#include "kvcheck/sim/replay/replay_task.h"

#include <algorithm>
#include <utility>

#include "kvcheck/sim/replay/dense_facts.h"

namespace kv {

DenseRows open_rows(const Plan& plan, const Lane& lane, std::shared_ptr<const KeyValues> shared) {
  return {plan.trace,         lane.layer,        lane.head,
          plan.options.top_k, std::move(shared), plan.rotations.table(lane.layer)};
}

std::shared_ptr<const KeyValues> open_key_values(const Plan& plan, const Lane& lane) {
  const TraceInfo& info = plan.trace.info();
  if (info.kind == TraceKind::attention) return nullptr;
  return std::make_shared<KeyValues>(plan.trace, lane.layer, kv_head_of(info, lane.head),
                                     plan.rotations.table(lane.layer));
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

// What all queries of one task are passed to.
struct Receivers {
  std::vector<DenseRows> rows;  // by lane
  std::vector<CellState>& cells;
  std::vector<DenseFactsSums>& facts;
  const QueryWeights& weights;
  SeenRows seen;
};

// A policy that breaks its interface makes all results of the run invalid. No other cell continues
// then: its policy may take as long as the first one to fail.
template <typename Call>
Result<void> each_cell(std::vector<CellState>& cells, const Call& call) {
  for (CellState& cell : cells) {
    call(cell);
    if (cell.failed()) return cell.check_promises();
  }
  return {};
}

// Passes every cell the row of one lane. `row` is the number of the query among the recorded ones;
// empty if it is not recorded.
Result<void> replay_row(Position query,
                        std::optional<std::size_t> row,
                        std::size_t lane,
                        Receivers& to) {
  DenseRows& rows = to.rows[lane];
  if (!row) {
    return each_cell(to.cells,
                     [&](CellState& cell) { cell.carry_row(lane, query, rows, to.seen); });
  }
  const Result<DenseRow> loaded = rows.load(query, *row);
  if (!loaded) return loaded.error();
  if (!to.facts.empty()) to.facts[lane].add(*loaded, to.weights.weight(*row));
  return each_cell(to.cells, [&](CellState& cell) { cell.add_row(lane, *loaded, rows, to.seen); });
}

// Replays one query of one task: every lane's row is loaded once and passed to every cell.
Result<void> replay_query(Position query, std::optional<std::size_t> row, Receivers& to) {
  Result<void> done = each_cell(to.cells, [&](CellState& cell) { cell.begin_query(query); });
  for (std::size_t lane = 0; lane < to.rows.size() && done; ++lane) {
    done = replay_row(query, row, lane, to);
  }
  if (!done) return done;
  return each_cell(to.cells, [&](CellState& cell) { cell.end_query(query); });
}

// The cells of a task that are replayed, and what the others have from an earlier run.
struct Missing {
  std::vector<std::size_t> cells;  // indices in the plan, increasing
  bool facts = false;

  [[nodiscard]] bool any() const { return facts || !cells.empty(); }
};

// Fills in the parts of the task that the plan's store has.
Missing load_kept(const Plan& plan, Task& task, std::vector<CellPart>& parts) {
  Missing missing;
  for (std::size_t cell = task.first_cell; cell < task.last_cell; ++cell) {
    if (auto part = kept_part(plan, task, cell)) {
      parts[cell - task.first_cell] = std::move(*part);
    } else {
      missing.cells.push_back(cell);
    }
  }
  if (!task.first_of_group) return missing;
  if (auto facts = kept_facts(plan, task)) {
    task.facts = std::move(*facts);
  } else {
    missing.facts = true;
  }
  return missing;
}

std::vector<CellState> states_of(const Plan& plan,
                                 const Task& task,
                                 std::span<const std::size_t> cells) {
  const Lane last_layer = {plan.trace.info().layers.size() - 1, 0};
  const bool has_last_layer = std::ranges::find(task.lanes, last_layer) != task.lanes.end();
  const auto residencies = [&](std::size_t cell) -> std::size_t {
    if (plan.recorded[cell] == RecordedUnits::all) return task.lanes.size();
    return plan.recorded[cell] == RecordedUnits::one && has_last_layer ? 1 : 0;
  };
  std::vector<CellState> states;
  states.reserve(cells.size());
  for (const std::size_t cell : cells) {
    states.emplace_back(CellInputs{.trace = plan.trace,
                                   .lanes = task.lanes,
                                   .cell = plan.cells[cell],
                                   .classes = plan.classes,
                                   .rotations = plan.rotations,
                                   .weights = plan.cell_weights[cell],
                                   .series_width = plan.series_width,
                                   .residencies = residencies(cell)});
  }
  return states;
}

// Passes every query to the cells. Returns false if the task was stopped.
Result<bool> replay_all(const Plan& plan,
                        const Task& task,
                        std::vector<CellState>& cells,
                        std::vector<DenseFactsSums>& facts,
                        TaskProgress& progress) {
  const TraceInfo& info = plan.trace.info();
  const std::size_t tokens = info.tokens;
  Receivers to{.rows = open_lanes(plan, task.lanes),
               .cells = cells,
               .facts = facts,
               .weights = plan.weights,
               .seen = SeenRows(plan.options.top_k)};
  constexpr std::size_t report_every = 64;
  std::size_t row = 0;
  for (std::size_t query = 0; query < tokens; ++query) {
    // Every 64 queries only, because reports take a lock.
    const bool reports = (query + 1) % report_every == 0;
    const bool recorded = row < recorded_queries(info) && recorded_query(info, row) == query;
    const Result<void> done = replay_query(static_cast<Position>(query),
                                           recorded ? std::optional(row++) : std::nullopt, to);
    if (!done) return done.error();
    if (reports && !progress.advance(report_every)) return false;
  }
  progress.advance(tokens % report_every);
  return true;
}

// Hands the parts that were computed to the plan's store, all at once: a write for each would cost
// more than small parts take to compute.
void keep_parts(const Plan& plan,
                const Task& task,
                const std::vector<CellPart>& parts,
                const Missing& missing) {
  if (plan.options.parts == nullptr) return;
  std::vector<KeptPart> kept;
  for (const std::size_t cell : missing.cells) {
    kept.push_back({part_key(task, cell), bytes_of(parts[cell - task.first_cell])});
  }
  if (missing.facts) kept.push_back({facts_key(task), bytes_of(task.facts)});
  plan.options.parts->keep(std::move(kept));
}

}  // namespace

Result<void> run_task(const Plan& plan, Task& task, TaskProgress& progress) {
  const TraceInfo& info = plan.trace.info();
  std::vector<CellPart> parts(task.last_cell - task.first_cell);
  const Missing missing = load_kept(plan, task, parts);
  if (missing.any()) {
    std::vector<CellState> cells = states_of(plan, task, missing.cells);
    std::vector<DenseFactsSums> facts;
    if (missing.facts) {
      facts.assign(task.lanes.size(), DenseFactsSums(recorded_queries(info)));
    }
    const Result<bool> whole = replay_all(plan, task, cells, facts, progress);
    if (!whole) return whole.error();
    if (!*whole) return {};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      parts[missing.cells[i] - task.first_cell] = cells[i].finish();
    }
    for (std::size_t lane = 0; lane < facts.size(); ++lane) {
      const Lane& at = task.lanes[lane];
      task.facts.push_back(facts[lane].mean(info.layers[at.layer], at.head));
    }
    keep_parts(plan, task, parts, missing);
  } else {
    progress.advance(info.tokens);
  }
  task.parts = std::move(parts);
  return {};
}

}  // namespace kv
