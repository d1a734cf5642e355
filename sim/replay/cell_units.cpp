// How lanes form units, and the random stream and budget of each unit.
#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"
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

}  // namespace kv
