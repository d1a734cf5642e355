#include "kvcheck/model/attention/model_unit.h"

#include <memory>
#include <numeric>
#include <utility>

#include "kvcheck/base/random/draws.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/sim/replay/cell_state.h"

namespace kv::model {
namespace {

// The unit's query heads as groups that read one kv-head each. Lanes are ordered, so heads of one
// kv-head follow each other.
std::vector<KvHeadGroup> groups_of(const ModelConfig& config,
                                   const std::vector<Lane>& lanes,
                                   const UnitShape& shape,
                                   const KvFormat& storage) {
  std::vector<KvHeadGroup> groups;
  const std::size_t per_kv_head = config.heads / config.kv_heads;
  for (const std::size_t index : shape.lanes) {
    const Lane& lane = lanes[index];
    const std::size_t kv_head = lane.head / per_kv_head;
    if (groups.empty() || groups.back().layer != lane.layer || groups.back().kv_head != kv_head) {
      groups.push_back({.layer = lane.layer,
                        .kv_head = kv_head,
                        .first_head = lane.head,
                        .store = KvStore(storage, config.head_dim)});
    }
    ++groups.back().heads;
  }
  return groups;
}

}  // namespace

std::vector<ModelUnit> make_units(const ModelConfig& config,
                                  const Spec& spec,
                                  std::uint64_t seed,
                                  const KvFormat& storage,
                                  std::optional<std::size_t> only) {
  const TraceInfo info = describe_model(config);
  std::vector<Lane> lanes;
  for (std::size_t layer = 0; layer < config.layers; ++layer) {
    if (only && layer != *only) continue;
    for (std::size_t head = 0; head < config.heads; ++head) lanes.push_back({layer, head});
  }
  std::vector<ModelUnit> units;
  for (const UnitShape& shape : units_of(info, lanes, spec.unit)) {
    const Lane& first = lanes[shape.lanes.front()];
    const Rng rng(seed_for(seed, spec.policy->name), stream_of_unit(info, first, spec.unit));
    const Spec own = unit_spec(spec, grid_of(info), place_in_grid(info, first));
    units.push_back({.layer = first.layer,
                     .head = first.head,
                     .heads = shape.lanes.size(),
                     .spans_layers = spec.unit == Unit::model,
                     .groups = groups_of(config, lanes, shape, storage),
                     .rng = rng,
                     .cache = UnitCache(own, std::make_unique<CounterDraws>(rng)),
                     .observations = ChunkObservations(config.head_dim)});
    if (!own.selects()) continue;
    for (KvHeadGroup& group : units.back().groups) {
      group.pages.emplace(own.top_pages, config.head_dim);
    }
  }
  return units;
}

ModelUnit fork_of(const ModelUnit& unit) {
  auto draws = std::make_unique<CounterDraws>(unit.rng);
  return {.layer = unit.layer,
          .head = unit.head,
          .heads = unit.heads,
          .spans_layers = unit.spans_layers,
          .groups = unit.groups,
          .rng = unit.rng,
          .cache = unit.cache.fork(std::move(draws)),
          .observations = unit.observations,
          .repeated = unit.repeated};
}

std::vector<BudgetPool> pools_of(std::vector<ModelUnit>& units) {
  std::vector<LayerCache> caches;
  for (ModelUnit& unit : units) caches.push_back({unit.layer, &unit.cache});
  return budget_pools(caches);
}

TraceInfo describe_model(const ModelConfig& config) {
  TraceInfo info;
  info.kind = TraceKind::qkv;
  info.query_heads = config.heads;
  info.kv_heads = config.kv_heads;
  info.head_dim = config.head_dim;
  info.layers.resize(config.layers);
  std::iota(info.layers.begin(), info.layers.end(), std::size_t{0});
  info.trained_context = config.context;
  info.rope = config.rope;
  return info;
}

}  // namespace kv::model
