// The rules without content: sinks and recency, uniform, ties.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kvcheck/traces/synthetic/plan.h"

namespace kv {
namespace {

Run all_queries(const SyntheticSpec& spec) {
  return {0, static_cast<Position>(spec.tokens)};
}

}  // namespace

UnitPlan plan_sink_recency(const SyntheticSpec& spec, std::size_t, std::size_t) {
  UnitPlan plan = background_plan(spec);
  const double mass = spec.at("mass");
  const std::size_t sinks = std::min(spec.count("sinks"), spec.tokens);
  for (QueryPlan& query : plan.queries) query.mass = {mass, 0, 1 - mass};

  Plant plant{"sinks", mass, {all_queries(spec)}, {}};
  for (Position j = 0; j < sinks; ++j) {
    plan.keys[j].part = Part::sink;
    plant.keys.push_back({j, 1 / spec.at("sinks")});
  }
  if (sinks > 0) plan.plants.push_back(std::move(plant));
  return plan;
}

UnitPlan plan_uniform(const SyntheticSpec& spec, std::size_t, std::size_t) {
  return background_plan(spec);
}

UnitPlan plan_ties(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head) {
  UnitPlan plan = background_plan(spec);
  const Rng rng = synthetic_rng(spec, layer, kv_head);
  Plant plant{"levels", 1, {all_queries(spec)}, {}};
  double total = 0;
  for (Position j = 0; j < spec.tokens; ++j) {
    const auto level =
        static_cast<double>(rng.below(spec.count("levels"), j, draw_index(Purpose::plan)));
    plan.keys[j] = {Part::planted, 0, -level * std::numbers::ln2};
    plan.queries[j].mass = {0, 1, 0};
    plant.keys.push_back({j, std::exp2(-level)});
    total += plant.keys.back().share;
  }
  for (PlantedKey& key : plant.keys) key.share /= total;
  plan.plants.push_back(std::move(plant));
  return plan;
}

}  // namespace kv
