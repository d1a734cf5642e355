// Heavy hitters: a few keys that most queries attend to, always (zipf) or for a while (drift).
#include <algorithm>
#include <cmath>
#include <utility>

#include "kvcheck/traces/synthetic/plan.h"

namespace kv {
namespace {

// Makes `positions` hitters of one label, the i-th with the weight (i + 1)^-exponent.
Plant plant_hitters(const SyntheticSpec& spec,
                    const std::vector<Position>& positions,
                    std::uint32_t label,
                    UnitPlan& plan) {
  Plant plant{"hitters", spec.at("mass"), {}, {}};
  double total = 0;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const double weight = -spec.at("exponent") * std::log(static_cast<double>(i + 1));
    total += std::exp(weight);
    if (positions[i] >= spec.tokens) continue;
    plan.keys[positions[i]] = {Part::planted, label, weight};
    plant.keys.push_back({positions[i], std::exp(weight)});
  }
  for (PlantedKey& key : plant.keys) key.share /= total;
  return plant;
}

}  // namespace

UnitPlan plan_zipf(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head) {
  UnitPlan plan = background_plan(spec);
  for (QueryPlan& query : plan.queries) query.mass = {0, spec.at("mass"), 1 - spec.at("mass")};

  // Drawn from a region of fixed size, so that the plant does not depend on the stream's length.
  const Run within{0, static_cast<Position>(spec.count("within"))};
  const std::vector<Position> positions =
      draw_positions(synthetic_rng(spec, layer, kv_head), within, spec.count("hitters"));
  Plant plant = plant_hitters(spec, positions, 0, plan);
  plant.queries.push_back({0, static_cast<Position>(spec.tokens)});
  plan.plants.push_back(std::move(plant));
  return plan;
}

UnitPlan plan_drift(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head) {
  UnitPlan plan = background_plan(spec);
  const Rng rng = synthetic_rng(spec, layer, kv_head);
  const auto period = static_cast<Position>(spec.count("period"));
  for (Position begin = 0, epoch = 0; begin < spec.tokens; begin += period, ++epoch) {
    const auto end = static_cast<Position>(std::min<std::size_t>(begin + period, spec.tokens));
    for (Position t = begin; t < end; ++t) {
      plan.queries[t].label = epoch;
      if (epoch > 0) plan.queries[t].mass = {0, spec.at("mass"), 1 - spec.at("mass")};
    }
    if (epoch == 0) continue;
    const std::vector<Position> positions =
        draw_positions(rng, {begin - period, begin}, spec.count("hitters"));
    Plant plant = plant_hitters(spec, positions, epoch, plan);
    plant.queries.push_back({begin, end});
    plan.plants.push_back(std::move(plant));
  }
  return plan;
}

}  // namespace kv
