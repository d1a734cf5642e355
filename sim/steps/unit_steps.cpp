#include "kvcheck/sim/steps/unit_steps.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kvcheck/sim/replay/replay_task.h"
#include "kvcheck/sim/replay/serves.h"
#include "kvcheck/sim/steps/decision_log.h"

namespace kv {
namespace {

// The unit among those of its group, which are the units that decide or are read together.
struct Found {
  std::vector<Lane> lanes;  // of the group
  std::vector<UnitShape> units;
  std::size_t index = 0;
};

Result<Found> find_unit(const TraceInfo& info,
                        const Spec& spec,
                        std::size_t layer,
                        std::size_t head) {
  std::vector<Lane> all;
  for (std::size_t i = 0; i < info.layers.size(); ++i) {
    for (std::size_t h = 0; h < info.query_heads; ++h) all.push_back({i, h});
  }
  const Unit widest = std::max(Unit::kv_head, spec.budgets.shared() ? Unit::layer : spec.unit);
  for (const UnitShape& group : units_of(info, all, widest)) {
    Found found;
    for (const std::size_t lane : group.lanes) found.lanes.push_back(all[lane]);
    found.units = units_of(info, found.lanes, spec.unit);
    for (; found.index < found.units.size(); ++found.index) {
      const Lane& first = found.lanes[found.units[found.index].lanes.front()];
      if (info.layers[first.layer] == layer && first.head == head) return found;
    }
  }
  return usage_error("'" + info.name + "' has no cache of '" + spec.label() +
                     "' that begins at layer " + std::to_string(layer) + ", head " +
                     std::to_string(head));
}

// The log of the unit: units that keep everything by their budget have policies without a log.
std::optional<std::size_t> log_of(const TraceInfo& info, const Spec& spec, const Found& found) {
  std::size_t logs = 0;
  for (std::size_t i = 0; i <= found.index; ++i) {
    const Lane& first = found.lanes[found.units[i].lanes.front()];
    const Spec own = unit_spec(spec, grid_of(info), place_in_grid(info, first));
    const bool logged = own.policy == spec.policy;
    if (i == found.index) return logged ? std::optional(logs) : std::nullopt;
    logs += static_cast<std::size_t>(logged);
  }
  return std::nullopt;
}

// What the replay of one unit needs of the plan of a whole replay.
Plan plan_of(const Trace& trace, const Cell& cell, const ReplayOptions& options) {
  const TraceInfo& info = trace.info();
  const std::size_t positions = info.kind == TraceKind::qkv ? info.tokens : 0;
  const bool classified = needs_of(cell.spec).token_classes;
  return {.trace = trace,
          .cells = {&cell, 1},
          .options = options,
          .rotations = TraceRotations(info, positions),
          .classes = classified ? token_classes(trace) : std::vector<TokenClass>(),
          .weights = QueryWeights(info, 0)};
}

// Calls `stored` after each query has begun and before it ends, when its token is stored.
template <typename Seen, typename Stored>
Result<void> run_stream(const Plan& plan,
                        const Found& found,
                        CellState& state,
                        const Seen& seen,
                        const Stored& stored) {
  std::vector<DenseRows> rows = open_lanes(plan, found.lanes);
  SeenRows renormalised(plan.options.top_k);
  for (std::size_t q = 0; q < plan.trace.info().tokens; ++q) {
    const auto query = static_cast<Position>(q);
    seen(query);
    state.begin_query(query);
    stored(query);
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
      const Result<DenseRow> row = rows[lane].load(query);
      if (!row) return row.error();
      state.add_row(lane, *row, rows[lane], renormalised);
    }
    seen(query + 1);
    state.end_query(query);
  }
  return state.check_promises();
}

// Retained mass by query, the mean over the kv-heads of the unit; each has its own series.
std::vector<float> retained_of(const TraceInfo& info, const Found& found, const CellPart& part) {
  const std::vector<std::size_t>& lanes = found.units[found.index].lanes;
  const std::vector<UnitShape> kv_heads = units_of(info, found.lanes, Unit::kv_head);
  std::vector<float> retained;
  for (std::size_t q = 0; q < info.tokens; ++q) {
    double sum = 0;
    double rows = 0;
    for (std::size_t i = 0; i < kv_heads.size(); ++i) {
      if (std::ranges::find(kv_heads[i].lanes, lanes.front()) == kv_heads[i].lanes.end() &&
          std::ranges::find(lanes, kv_heads[i].lanes.front()) == lanes.end()) {
        continue;
      }
      sum += part.series[i][q].retained_mass;
      rows += part.series[i][q].rows;
    }
    retained.push_back(static_cast<float>(sum / rows));
  }
  return retained;
}

}  // namespace

Result<UnitSteps> unit_steps(const Trace& trace,
                             const Cell& cell,
                             std::size_t layer,
                             std::size_t head,
                             std::size_t most_mass) {
  const TraceInfo& info = trace.info();
  if (!info.queries.empty()) {
    return usage_error("'" + info.name + "' records " + std::to_string(info.queries.size()) +
                       " of " + std::to_string(info.tokens) +
                       " queries, and steps need the attention of all; expected a trace of all "
                       "queries");
  }
  const auto found = find_unit(info, cell.spec, layer, head);
  if (!found) return found.error();
  const ReplayOptions options;
  if (Result<void> fits = check_serves(trace, cell.spec); !fits) return fits.error();
  const Plan plan = plan_of(trace, cell, options);
  LoggedEntry logged(*cell.spec.policy, !cell.spec.selects(), most_mass);
  Cell watched = cell;
  watched.spec.policy = &logged.entry();
  CellState state({.trace = trace,
                   .lanes = found->lanes,
                   .cell = watched,
                   .classes = plan.classes,
                   .rotations = plan.rotations,
                   .weights = plan.weights,
                   .series_width = 1,
                   .residencies = found->index + 1});
  const std::optional<std::size_t> index = log_of(info, watched.spec, *found);
  DecisionLog unlogged;
  DecisionLog& log = index ? *logged.logs().at(*index) : unlogged;
  UnitSteps steps;
  const auto seen = [&](Position tokens) {
    for (const auto& one : logged.logs()) one->seen = tokens;
  };
  const auto stored = [&](Position query) {
    const UnitCache& cache = state.cache(found->index);
    // Later tokens of the chunk are stored too; their ranks come last.
    const std::size_t later = cache.seen() - 1 - query;
    steps.slots.push_back(cache.slots().slot_of(cache.residents() - 1 - later));
  };
  if (Result<void> done = run_stream(plan, *found, state, seen, stored); !done) return done.error();
  CellPart part = state.finish();
  steps.residency = std::move(part.residency[found->index]);
  steps.retained = retained_of(info, *found, part);
  steps.mass = std::move(log.mass);
  steps.decisions = std::move(log.decisions);
  return steps;
}

}  // namespace kv
