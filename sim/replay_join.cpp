#include "sim/replay_join.h"

#include <algorithm>
#include <iterator>

namespace kv {
namespace {

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

}  // namespace

ReplayResult join_parts(const Plan& plan, std::vector<Task>& tasks) {
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

}  // namespace kv
