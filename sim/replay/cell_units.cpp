// How lanes form units, the random stream and budget of each unit, what its policy is shown, and of
// which units the residency is recorded.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/sim/replay/cell_state.h"

namespace kv {
namespace {

// Two lanes are in the same unit if their keys are equal.
std::pair<std::size_t, std::size_t> unit_key(const TraceInfo& info, const Lane& lane, Unit unit) {
  switch (unit) {
    case Unit::head:
      return {lane.layer, lane.head};
    case Unit::kv_head:
      return {lane.layer, kv_head_of(info, lane.head)};
    case Unit::layer:
      return {lane.layer, 0};
    case Unit::model:
      return {0, 0};
  }
  KV_CHECK(false);
}

std::size_t kv_heads_of(const TraceInfo& info, Unit unit) {
  if (unit == Unit::layer) return info.kv_heads;
  if (unit == Unit::model) return info.kv_heads * info.layers.size();
  return 1;
}

}  // namespace

std::uint32_t stream_of_unit(const TraceInfo& info, const Lane& first, Unit unit) {
  constexpr std::size_t whole = 65535;  // above every legal number of a layer or head
  if (unit == Unit::model) return stream_of(whole, whole);
  const std::size_t layer = info.layers[first.layer];
  if (unit == Unit::layer) return stream_of(layer, whole);
  return stream_of(layer, unit_key(info, first, unit).second);
}

HeadGrid grid_of(const TraceInfo& info) {
  // A trace may record only some layers; the last one stands for the model's depth.
  return {info.layers.back() + 1, info.kv_heads, query_heads_per_kv_head(info)};
}

KvHead place_in_grid(const TraceInfo& info, const Lane& lane) {
  return {static_cast<std::uint32_t>(info.layers[lane.layer]),
          static_cast<std::uint32_t>(kv_head_of(info, lane.head))};
}

std::vector<UnitShape> units_of(const TraceInfo& info, const std::vector<Lane>& lanes, Unit unit) {
  std::vector<UnitShape> units;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto same = [&](const UnitShape& other) {
      const Lane& first = lanes[other.lanes.front()];
      return unit_key(info, first, unit) == unit_key(info, lanes[lane], unit);
    };
    const auto found = std::ranges::find_if(units, same);
    if (found == units.end()) {
      units.push_back({{lane}, kv_heads_of(info, unit)});
    } else {
      found->lanes.push_back(lane);
    }
  }
  return units;
}

void CellState::carry_row(std::size_t lane,
                          Position query,
                          const DenseRows& source,
                          SeenRows& seen) {
  UnitState& unit = units_[unit_of_lane_[lane]];
  const Needs& needs = unit.cache.needs();
  if (!needs.any()) return;
  const auto after = std::ranges::upper_bound(info_.queries, query);
  const auto row = static_cast<std::size_t>(after - info_.queries.begin());
  if (needs.vectors()) add_vectors(lane, unit, query, row == 0 ? 0 : row - 1, source);
  if (needs.attention) seen.carry(source, *unit.view.visible);
  show(unit, seen);
}

// A unit of one lane observes at once; shared units observe the mean of their lanes in end_query.
void CellState::show(UnitState& unit, const SeenRows& seen) {
  const bool attention = unit.cache.needs().attention;
  const std::span<const float> paid = attention ? seen.mass() : std::span<const float>();
  if (!unit.shared()) {
    unit.cache.observe(unit.shown(paid));
    failed_ = unit.failed();
    return;
  }
  if (attention) kernels().add(unit.mass.data(), paid.data(), paid.size());
}

// Keys and values are those of the lane's kv-head. The first lane that reads a kv-head adds them.
void CellState::add_vectors(
    std::size_t lane, UnitState& unit, Position query, std::size_t row, const DenseRows& source) {
  const Needs& needs = unit.cache.needs();
  const bool opens = lane == unit.shape.lanes.front() ||
                     place_in_grid(info_, lanes_[lane]) != place_in_grid(info_, lanes_[lane - 1]);
  vector_.resize(info_.head_dim);
  if (needs.keys && opens) {
    source.raw_key(query, vector_.data());
    unit.vectors.add_keys(vector_.data(), 1);
  }
  if (needs.values && opens) {
    source.raw_value(query, vector_.data());
    unit.vectors.add_values(vector_.data(), 1);
  }
  if (needs.queries) unit.vectors.add_queries(source.raw_query(row).data(), 1);
}

// Whether a decision after `seen` tokens depended on queries that are not recorded.
bool CellState::decided_on_sample(const Needs& needs, Position seen) const {
  if (info_.queries.empty() || (!needs.attention && !needs.queries)) return false;
  const std::size_t asked =
      needs.last_queries == 0 ? seen : std::min<std::size_t>(seen, needs.last_queries);
  const auto first = std::ranges::lower_bound(info_.queries, seen - asked);
  const auto last = std::ranges::lower_bound(info_.queries, seen);
  return static_cast<std::size_t>(last - first) < asked;
}

std::vector<RecordedUnits> recorded_units(const TraceInfo& info,
                                          std::span<const Cell> cells,
                                          std::size_t most_entries) {
  const std::size_t entries = info.tokens * info.layers.size() * info.query_heads;
  // Callers that need no residency ask for no entries.
  const std::size_t most_seeds = most_entries == 0 ? 1 : most_recorded_seeds;
  std::map<std::string, std::size_t> seeds;  // of each spec, so far
  std::vector<RecordedUnits> recorded;
  for (const Cell& cell : cells) {
    const std::size_t seed = ++seeds[cell.spec.canonical()];
    if (seed > most_seeds) {
      recorded.push_back(RecordedUnits::none);
    } else {
      recorded.push_back(seed * entries <= most_entries ? RecordedUnits::all : RecordedUnits::one);
    }
  }
  return recorded;
}

}  // namespace kv
