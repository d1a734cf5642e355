#include "sim/replay.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "base/check.h"
#include "sim/cell_state.h"
#include "sim/dense_facts.h"
#include "sim/dense_rows.h"
#include "sim/rope.h"

namespace kv {
namespace {

constexpr std::size_t map_side = 128;

// Everything that the groups of one replay share.
struct Plan {
  const Trace& trace;
  std::span<const Cell> cells;
  const ReplayOptions& options;
  RopeTable rope;
  std::size_t series_width = 1;
  std::vector<bool> keep_residency;  // per cell
  bool all_residency = true;         // of all units; else of the last layer's first only
};

// One piece of work: some heads, some cells.
struct Task {
  std::vector<Lane> lanes;
  std::size_t first_cell = 0;
  std::size_t last_cell = 0;
  bool first_of_group = false;  // gathers the dense facts
  std::vector<CellPart> parts;
  std::vector<DenseFacts> facts;
  std::optional<Error> error;
};

// Counts finished queries over all tasks, tells the caller, and carries the wish to stop.
class Progress {
 public:
  Progress(const std::function<bool(double)>& report, std::uint64_t total)
      : report_(report), total_(total) {}

  // True if the replay should go on.
  bool advance(std::uint64_t queries) {
    const std::uint64_t done = done_.fetch_add(queries) + queries;
    if (report_ && !stopped_) {
      const std::lock_guard lock(mutex_);
      if (!stopped_ && !report_(static_cast<double>(done) / static_cast<double>(total_))) {
        stopped_ = true;
      }
    }
    return !stopped_;
  }

  void stop() { stopped_ = true; }

  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  const std::function<bool(double)>& report_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
};

DenseRows open_rows(const Plan& plan, const Lane& lane, std::shared_ptr<const KeyValues> shared) {
  return {plan.trace, lane.layer, lane.head, plan.options.top_k, std::move(shared), plan.rope};
}

std::shared_ptr<const KeyValues> open_key_values(const Plan& plan, const Lane& lane) {
  const TraceInfo& info = plan.trace.info();
  if (info.kind == TraceKind::attention) return nullptr;
  const std::size_t kv_head = lane.head / (info.query_heads / info.kv_heads);
  return std::make_shared<KeyValues>(plan.trace.layer(lane.layer), kv_head, plan.rope);
}

// The rows of every lane; lanes of one kv-head share its keys and values.
std::vector<DenseRows> open_lanes(const Plan& plan, const std::vector<Lane>& lanes) {
  const TraceInfo& info = plan.trace.info();
  const std::size_t per_kv_head = info.query_heads / info.kv_heads;
  std::vector<DenseRows> rows;
  rows.reserve(lanes.size());
  std::shared_ptr<const KeyValues> shared;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const bool same = i > 0 && lanes[i].layer == lanes[i - 1].layer &&
                      lanes[i].head / per_kv_head == lanes[i - 1].head / per_kv_head;
    if (!same) shared = open_key_values(plan, lanes[i]);
    rows.push_back(open_rows(plan, lanes[i], shared));
  }
  return rows;
}

// One query of one task: every lane's row is loaded once and handed to every cell.
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

void run_task(const Plan& plan, Task& task, Progress& progress) {
  const TraceInfo& info = plan.trace.info();
  std::vector<DenseRows> rows = open_lanes(plan, task.lanes);
  std::vector<CellState> cells;
  cells.reserve(task.last_cell - task.first_cell);
  const Lane last_layer = {info.layers.size() - 1, 0};
  const bool has_last_layer = std::ranges::find(task.lanes, last_layer) != task.lanes.end();
  const std::size_t residencies =
      plan.all_residency ? task.lanes.size() : static_cast<std::size_t>(has_last_layer);
  for (std::size_t i = task.first_cell; i < task.last_cell; ++i) {
    cells.emplace_back(plan.trace, task.lanes, plan.cells[i], plan.series_width,
                       plan.keep_residency[i] ? residencies : 0);
  }
  std::vector<DenseFactsSums> facts;
  if (task.first_of_group) facts.assign(task.lanes.size(), DenseFactsSums(info.tokens));
  SeenRows seen(plan.options.top_k);

  constexpr std::size_t report_every = 64;
  for (std::size_t query = 0; query < info.tokens; ++query) {
    const Result<void> done = replay_query(static_cast<Position>(query), rows, cells, facts, seen);
    if (!done) {
      task.error = done.error();
      return progress.stop();
    }
    if ((query + 1) % report_every == 0 && !progress.advance(report_every)) return;
  }
  progress.advance(info.tokens % report_every);
  for (CellState& cell : cells) task.parts.push_back(cell.finish());
  for (std::size_t lane = 0; lane < facts.size(); ++lane) {
    const Lane& at = task.lanes[lane];
    task.facts.push_back(facts[lane].mean(info.layers[at.layer], at.head));
  }
}

void run_tasks(const Plan& plan,
               std::vector<Task>& tasks,
               std::size_t threads,
               Progress& progress) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  tbb::task_arena arena(static_cast<int>(threads));
  const auto run_one = [&](std::size_t i) {
    if (!progress.stopped()) run_task(plan, tasks[i], progress);
  };
  arena.execute([&] { tbb::parallel_for(std::size_t{0}, tasks.size(), run_one); });
}

// The widest sharing that a cell asks for decides which heads go together.
Unit widest_unit(std::span<const Cell> cells) {
  Unit widest = Unit::kv_head;
  for (const Cell& cell : cells) widest = std::max(widest, cell.spec.unit);
  return widest;
}

std::vector<Task> make_tasks(const Plan& plan, std::size_t threads) {
  const TraceInfo& info = plan.trace.info();
  std::vector<Lane> all;
  for (std::size_t layer = 0; layer < info.layers.size(); ++layer) {
    for (std::size_t head = 0; head < info.query_heads; ++head) all.push_back({layer, head});
  }
  const std::vector<UnitShape> groups = units_of(info, all, widest_unit(plan.cells));
  // With fewer groups than threads the cells are split too; then rows are loaded once per share.
  const std::size_t shares = std::clamp<std::size_t>(threads / groups.size(), 1, plan.cells.size());
  std::vector<Task> tasks;
  for (const UnitShape& group : groups) {
    for (std::size_t share = 0; share < shares; ++share) {
      Task task;
      for (const std::size_t lane : group.lanes) task.lanes.push_back(all[lane]);
      task.first_cell = plan.cells.size() * share / shares;
      task.last_cell = plan.cells.size() * (share + 1) / shares;
      task.first_of_group = share == 0;
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

template <typename T>
void add_each(std::vector<T>& into, const std::vector<T>& from) {
  into.resize(std::max(into.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

template <typename T>
void append(std::vector<T>& into, std::vector<T>& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
}

std::vector<SeriesPoint> means_of(const std::vector<SeriesSums>& sums,
                                  std::size_t width,
                                  bool has_values) {
  std::vector<SeriesPoint> points;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const SeriesSums& sum = sums[i];
    const auto rows = static_cast<double>(sum.rows);
    const auto steps = static_cast<double>(sum.steps);
    points.push_back({static_cast<Position>(i * width), sum.retained_mass / rows,
                      sum.kl_to_dense / rows, sum.topk_overlap / rows,
                      has_values ? sum.output_error / rows : not_measured, sum.stored / steps,
                      sum.kept / steps, sum.visible / steps});
  }
  return points;
}

// Residents hold the keys and values of one or more kv-heads, each of head_dim numbers.
std::uint64_t bytes_per_row(const TraceInfo& info, Unit unit) {
  const std::uint64_t number = info.number == Number::f32 ? 4 : 2;
  const std::vector<Lane> lane = {{0, 0}};
  return 2 * number * info.head_dim * units_of(info, lane, unit).front().kv_heads;
}

// Joins the parts in the order of the tasks, which no thread decides. A cell that shares residents
// over fewer heads than its group has its units in order already, since groups are in lane order.
ReplayResult join(const Plan& plan, std::vector<Task>& tasks) {
  const TraceInfo& info = plan.trace.info();
  ReplayResult result;
  result.trace = info;
  result.top_k = plan.options.top_k;
  result.series_width = plan.series_width;
  result.cells.resize(plan.cells.size());
  std::vector<std::vector<SeriesSums>> series(plan.cells.size());
  for (Task& task : tasks) {
    for (std::size_t i = task.first_cell; i < task.last_cell; ++i) {
      CellPart& part = task.parts[i - task.first_cell];
      CellResult& cell = result.cells[i];
      append(cell.heads, part.heads);
      append(cell.units, part.units);
      append(cell.residency, part.residency);
      add_each(series[i], part.series);
      add_each(cell.kept, part.kept);
      add_each(cell.lifetimes, part.lifetimes);
    }
    append(result.dense, task.facts);
  }
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    CellResult& cell = result.cells[i];
    cell.cell = plan.cells[i];
    cell.series = means_of(series[i], plan.series_width, info.kind == TraceKind::qkv);
    cell.bytes_per_row = bytes_per_row(info, cell.cell.spec.unit);
  }
  return result;
}

// Residency is kept once per spec, for its first seed.
std::vector<bool> residency_choice(std::span<const Cell> cells) {
  std::vector<bool> keep;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto same = [&](const Cell& other) { return other.spec == cells[i].spec; };
    keep.push_back(std::ranges::none_of(cells.first(i), same));
  }
  return keep;
}

Plan make_plan(const Trace& trace, std::span<const Cell> cells, const ReplayOptions& options) {
  const TraceInfo& info = trace.info();
  const std::size_t positions = info.kind == TraceKind::qkv ? info.tokens : 0;
  return {.trace = trace,
          .cells = cells,
          .options = options,
          .rope = RopeTable(info.rope, positions),
          .series_width = (info.tokens + options.series_points - 1) / options.series_points,
          .keep_residency = residency_choice(cells),
          .all_residency =
              info.tokens * info.layers.size() * info.query_heads <= options.residency_entries};
}

Result<AttentionMap> map_of(const Plan& plan, const DenseFacts& facts) {
  const TraceInfo& info = plan.trace.info();
  const auto layer = std::ranges::find(info.layers, facts.layer) - info.layers.begin();
  const Lane lane = {static_cast<std::size_t>(layer), facts.head};
  DenseRows rows = open_rows(plan, lane, open_key_values(plan, lane));
  Result<AttentionMap> map = attention_map(rows, info.tokens, map_side);
  if (map) {
    map->layer = facts.layer;
    map->head = facts.head;
  }
  return map;
}

}  // namespace

Result<ReplayResult> replay(const Trace& trace,
                            std::span<const Cell> cells,
                            const ReplayOptions& options) {
  KV_CHECK(!cells.empty() && options.top_k > 0 && options.series_points > 0);
  const Plan plan = make_plan(trace, cells, options);
  const auto machine = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  const std::size_t threads = options.threads > 0 ? options.threads : machine;
  std::vector<Task> tasks = make_tasks(plan, threads);
  Progress progress(options.progress, tasks.size() * trace.info().tokens);

  run_tasks(plan, tasks, threads, progress);
  for (const Task& task : tasks) {
    if (task.error) return *task.error;
  }
  if (progress.stopped()) return Error{Error::Kind::busy, "stopped before the replay was finished"};

  ReplayResult result = join(plan, tasks);
  Result<AttentionMap> map = map_of(plan, most_sink(result.dense));
  if (!map) return map.error();
  result.map = std::move(*map);
  return result;
}

}  // namespace kv
