#include "kvcheck/sim/replay/replay_join.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv {
namespace {

void add_queries(std::vector<HeadMetrics>& into, const std::vector<HeadMetrics>& from) {
  // A metric that was not measured is not zero, so sums begin with the first.
  if (into.empty()) {
    into = from;
    return;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    into[i].retained_mass += from[i].retained_mass;
    into[i].kl_to_dense += from[i].kl_to_dense;
    into[i].topk_overlap += from[i].topk_overlap;
    into[i].output_error += from[i].output_error;
  }
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
    const double rows = sum.rows;
    const auto steps = static_cast<double>(sum.steps);
    points.push_back({static_cast<Position>(i * width), sum.retained_mass / rows,
                      sum.kl_to_dense / rows, sum.topk_overlap / rows,
                      has_values ? sum.output_error / rows : not_measured, sum.stored / steps,
                      sum.kept / steps, sum.visible / steps});
  }
  return points;
}

// The interval of the mean over heads needs the mean over heads of each query.
void add_half_widths(const std::vector<HeadMetrics>& queries,
                     const QueryWeights& weights,
                     CellResult& cell) {
  if (cell.decided_on_sample) {
    for (HeadResult& head : cell.heads) head.half_widths = no_metrics;
    return;
  }
  if (queries.empty()) return;
  SamplingError error(weights);
  const auto heads = static_cast<double>(cell.heads.size());
  for (std::size_t row = 0; row < queries.size(); ++row) {
    Measured means = values_of(queries[row]);
    for (double& mean : means) mean /= heads;
    error.add(row, means);
  }
  cell.half_widths = metrics_of(error.half_widths());
}

// A resident holds the keys and values of one or more kv-heads, each of head_dim numbers.
std::uint64_t bytes_per_row(const TraceInfo& info, Unit unit) {
  const std::uint64_t number = info.number == Number::f32 ? 4 : 2;
  const std::vector<Lane> lane = {{0, 0}};
  return 2 * number * info.head_dim * units_of(info, lane, unit).front().kv_heads;
}

}  // namespace

Joiner::Joiner(const Plan& plan, std::vector<Task>& tasks)
    : plan_(plan),
      tasks_(tasks),
      done_(tasks.size()),
      series_(plan.cells.size()),
      queries_(plan.cells.size()) {
  result_.trace = plan.trace.info();
  result_.top_k = plan.options.top_k;
  result_.series_width = plan.series_width;
  result_.cells.resize(plan.cells.size());
}

void Joiner::finished(std::size_t task) {
  const std::lock_guard lock(mutex_);
  done_[task] = true;
  while (next_ < tasks_.size() && done_[next_]) join(tasks_[next_++]);
}

void Joiner::join(Task& task) {
  for (std::size_t i = 0; i < task.parts.size(); ++i) {
    CellPart& part = task.parts[i];
    CellResult& cell = result_.cells[task.first_cell + i];
    append(cell.heads, part.heads);
    append(cell.units, part.units);
    append(cell.residency, part.residency);
    for (const auto& series : part.series) add_each(series_[task.first_cell + i], series);
    for (const auto& queries : part.queries) add_queries(queries_[task.first_cell + i], queries);
    cell.decided_on_sample = cell.decided_on_sample || part.decided_on_sample;
    add_each(cell.kept, part.kept);
    add_each(cell.lifetimes, part.lifetimes);
  }
  append(result_.dense, task.facts);
  task.parts = {};  // frees them, since all tasks live until the end of the replay
}

ReplayResult Joiner::result() {
  KV_CHECK(next_ == tasks_.size());
  const TraceInfo& info = plan_.trace.info();
  for (std::size_t i = 0; i < plan_.cells.size(); ++i) {
    CellResult& cell = result_.cells[i];
    cell.cell = plan_.cells[i];
    cell.series = means_of(series_[i], plan_.series_width, info.kind == TraceKind::qkv);
    cell.bytes_per_row = bytes_per_row(info, cell.cell.spec.unit);
    add_half_widths(queries_[i], plan_.cell_weights[i], cell);
  }
  return std::move(result_);
}

}  // namespace kv
