#include "kvcheck/sim/replay/replay_oracle.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "kvcheck/base/packed_bytes.h"
#include "kvcheck/sim/cache/visible_limits.h"
#include "kvcheck/sim/oracle/future_mass.h"
#include "kvcheck/sim/oracle/oracle.h"

namespace kv {
namespace {

// An optimum takes about as long as this many passes over the unit's rows. Only progress depends on
// it.
constexpr std::uint64_t passes_per_optimum = 64;

// The mean row of a unit's query heads, each scaled to sum to one in double precision.
class UnitRows {
 public:
  UnitRows(const Plan& plan, const std::vector<Lane>& lanes) : rows_(open_lanes(plan, lanes)) {}

  // [query + 1]; holds until the next call.
  Result<std::span<const double>> load(Position query) {
    mean_.assign(query + std::size_t{1}, 0);
    for (DenseRows& rows : rows_) {
      const Result<DenseRow> row = rows.load(query);
      if (!row) return row.error();
      double sum = 0;
      for (const float mass : row->mass) sum += static_cast<double>(mass);
      const double scale = 1 / (sum * static_cast<double>(rows_.size()));
      for (std::size_t i = 0; i < mean_.size(); ++i) {
        mean_[i] += scale * static_cast<double>(row->mass[i]);
      }
    }
    return std::span<const double>(mean_);
  }

 private:
  std::vector<DenseRows> rows_;
  std::vector<double> mean_;
};

// Reports a step of a pass over a unit's rows. Returns false if the replay should stop.
bool advanced(std::size_t query, TaskProgress& progress) {
  constexpr std::size_t report_every = 64;
  return (query + 1) % report_every != 0 || progress.advance(report_every);
}

// The mass that all queries pay to each token. `masses`, if not null, receives the rows. If
// progress is stopped, the result is incomplete, and so are all later ones.
Result<std::vector<double>> read_future(UnitRows& rows,
                                        std::size_t tokens,
                                        FutureMass* masses,
                                        TaskProgress& progress) {
  std::vector<double> future(tokens);
  for (std::size_t query = 0; query < tokens && advanced(query, progress); ++query) {
    const auto row = rows.load(static_cast<Position>(query));
    if (!row) return row.error();
    for (std::size_t i = 0; i < row->size(); ++i) future[i] += (*row)[i];
    if (masses != nullptr) masses->set_row(static_cast<Position>(query), *row);
  }
  if (masses != nullptr) masses->close();
  return future;
}

// Computes the bounds that need one pass over the rows.
Result<void> bound_by_rows(UnitRows& rows,
                           const std::vector<double>& future,
                           OracleTask& task,
                           TaskProgress& progress) {
  PerStepTop top;
  std::vector<GreedyCache> caches;
  for (OracleTask::Limited& limited : task.limited) {
    caches.emplace_back(future, *limited.limits);
    if (limited.kept) continue;
    limited.bounds.per_step = 0;
    if (!limited.selects) limited.bounds.greedy = 0;
  }
  for (std::size_t query = 0; query < future.size() && advanced(query, progress); ++query) {
    const auto row = rows.load(static_cast<Position>(query));
    if (!row) return row.error();
    for (std::size_t i = 0; i < caches.size(); ++i) {
      OracleTask::Limited& limited = task.limited[i];
      if (limited.kept) continue;
      limited.bounds.per_step += top.retained(*row, (*limited.limits)[query]);
      if (!limited.selects) limited.bounds.greedy += caches[i].next(*row);
    }
  }
  return {};
}

// Makes means of sums. Rows sum to one except for rounding, which must not show as a share above 1.
void divide(UnitBounds& bounds, std::size_t tokens) {
  for (double* const sum : {&bounds.optimum, &bounds.per_step, &bounds.greedy}) {
    if (std::isfinite(*sum)) *sum = std::min(*sum / static_cast<double>(tokens), 1.0);
  }
}

// Limits by spec, each computed once. Equal limits are shared, so that equal pointers mean equal
// limits.
class KnownLimits {
 public:
  using Limits = std::shared_ptr<const std::vector<std::uint32_t>>;

  explicit KnownLimits(std::size_t tokens) : tokens_(tokens) {}

  Limits of(const Spec& spec) {
    Limits& known = by_spec_[spec.canonical()];
    if (!known) {
      auto limits =
          std::make_shared<const std::vector<std::uint32_t>>(visible_limits(spec, tokens_));
      known = by_content_.emplace(*limits, limits).first->second;
    }
    return known;
  }

 private:
  std::size_t tokens_;
  std::map<std::string, Limits> by_spec_;  // cells with different seeds have the same limits
  std::map<std::vector<std::uint32_t>, Limits> by_content_;
};

// The unit for which a spec's bounds are computed. If each query head selects its own tokens, it is
// the single head: a bound for a common selection of the unit would not hold for separate
// selections.
Unit bounded_unit(const Spec& spec) {
  return spec.selects() ? Unit::head : spec.unit;
}

// The cells with units of this kind, grouped by their limits for the unit of `first`.
std::vector<OracleTask::Limited> limited_cells(const Plan& plan,
                                               Unit unit,
                                               const Lane& first,
                                               KnownLimits& known) {
  const TraceInfo& info = plan.trace.info();
  std::vector<OracleTask::Limited> limited;
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    const Spec& spec = plan.cells[cell].spec;
    if (bounded_unit(spec) != unit) continue;
    const auto limits =
        known.of(roomiest_unit_spec(spec, grid_of(info), place_in_grid(info, first)));
    auto place = std::ranges::find_if(limited, [&](const OracleTask::Limited& other) {
      return other.limits == limits && other.selects == spec.selects();
    });
    if (place == limited.end()) {
      limited.push_back({.limits = limits, .cells = {}, .selects = spec.selects(), .bounds = {}});
      place = limited.end() - 1;
    }
    place->cells.push_back(cell);
  }
  return limited;
}

std::string bounds_key(const OracleTask& task, std::size_t limited) {
  return "unit " + std::to_string(task.index) + " bounds " + std::to_string(limited);
}

// Keeps the bounds of one unit under some limits; these take seconds.
void keep_bounds(const Plan& plan, const OracleTask& task, std::size_t limited) {
  if (plan.options.parts == nullptr) return;
  PackedWriter writer;
  const UnitBounds& bounds = task.limited[limited].bounds;
  for (const double bound : {bounds.optimum, bounds.per_step, bounds.greedy}) writer.real(bound);
  plan.options.parts->keep({{bounds_key(task, limited), writer.take()}});
}

// Fills in the bounds that the plan's store has. Returns whether these are all.
bool load_bounds(const Plan& plan, OracleTask& task) {
  if (plan.options.parts == nullptr) return false;
  bool all = true;
  for (std::size_t i = 0; i < task.limited.size(); ++i) {
    OracleTask::Limited& limited = task.limited[i];
    const auto bytes = plan.options.parts->find(bounds_key(task, i));
    PackedReader reader(bytes.value_or(std::span<const std::byte>()));
    UnitBounds bounds = limited.bounds;
    for (double* const bound : {&bounds.optimum, &bounds.per_step, &bounds.greedy}) {
      *bound = reader.real();
    }
    limited.kept = reader.whole();
    if (limited.kept) limited.bounds = bounds;
    all = all && limited.kept;
  }
  return all;
}

}  // namespace

std::vector<OracleTask> make_oracle_tasks(const Plan& plan) {
  if (!plan.options.oracle) return {};
  const TraceInfo& info = plan.trace.info();
  std::vector<Lane> all;
  for (std::size_t layer = 0; layer < info.layers.size(); ++layer) {
    for (std::size_t head = 0; head < info.query_heads; ++head) all.push_back({layer, head});
  }
  std::vector<OracleTask> tasks;
  KnownLimits known(info.tokens);
  for (const Unit unit : {Unit::head, Unit::kv_head, Unit::layer, Unit::model}) {
    for (const UnitShape& shape : units_of(info, all, unit)) {
      OracleTask task{.lanes = {},
                      .limited = limited_cells(plan, unit, all[shape.lanes.front()], known)};
      if (task.limited.empty()) break;
      for (const std::size_t lane : shape.lanes) task.lanes.push_back(all[lane]);
      const Lane& first = task.lanes.front();
      for (OracleTask::Limited& group : task.limited) {
        group.bounds.layer = info.layers[first.layer];
        group.bounds.head = first.head;
        group.bounds.heads = task.lanes.size();
      }
      task.index = tasks.size();
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

std::uint64_t oracle_work(const Plan& plan, const std::vector<OracleTask>& tasks) {
  const std::size_t tokens = plan.trace.info().tokens;
  const bool exact = tokens <= plan.options.oracle_tokens;
  std::uint64_t work = 0;
  for (const OracleTask& task : tasks) {
    work += tokens * (2 + (exact ? passes_per_optimum * task.limited.size() : 0));
  }
  return work;
}

Result<void> run_oracle_task(const Plan& plan, OracleTask& task, TaskProgress& progress) {
  const std::size_t tokens = plan.trace.info().tokens;
  const bool exact = tokens <= plan.options.oracle_tokens;
  const std::uint64_t work_of_optimum = passes_per_optimum * tokens;
  if (load_bounds(plan, task)) {
    progress.advance(tokens * 2 + (exact ? work_of_optimum * task.limited.size() : 0));
    return {};
  }
  UnitRows rows(plan, task.lanes);
  std::optional<FutureMass> masses;
  if (exact) masses.emplace(tokens);
  const auto future = read_future(rows, tokens, exact ? &*masses : nullptr, progress);
  if (!future) return future.error();
  if (Result<void> done = bound_by_rows(rows, *future, task, progress); !done) return done;
  if (progress.stopped()) return {};
  for (std::size_t i = 0; i < task.limited.size(); ++i) {
    OracleTask::Limited& limited = task.limited[i];
    if (!limited.kept) {
      if (exact && !limited.selects) {
        const auto optimum =
            irrevocable_optimum(*masses, *limited.limits, [&] { return !progress.stopped(); });
        if (!optimum) return {};
        limited.bounds.optimum = optimum->bound;
      }
      divide(limited.bounds, tokens);
      keep_bounds(plan, task, i);
    }
    if (exact && !limited.selects && !progress.advance(work_of_optimum)) return {};
  }
  return {};
}

void add_bounds(const std::vector<OracleTask>& tasks, std::vector<CellResult>& cells) {
  for (const OracleTask& task : tasks) {
    for (const OracleTask::Limited& limited : task.limited) {
      for (const std::size_t cell : limited.cells) {
        UnitBounds& bounds = cells[cell].bounds.emplace_back(limited.bounds);
        // The limits give every unit its largest share, which units never have all at once. The
        // bounds still hold, but no cache could reach this result.
        if (cells[cell].cell.spec.budgets.shared()) bounds.greedy = not_measured;
      }
    }
  }
}

}  // namespace kv
