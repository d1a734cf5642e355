// Keys that are attended to again later: a needle that is asked for again, topics that return.
#include <algorithm>
#include <utility>

#include "kvcheck/traces/synthetic/plan.h"

namespace kv {
namespace {

std::vector<Run> needle_queries(const SyntheticSpec& spec, Position needle) {
  const std::size_t attended = spec.count("attended");
  std::vector<Run> runs;
  if (attended > 0) {
    runs.push_back({needle, static_cast<Position>(std::min(needle + attended, spec.tokens))});
  }
  for (std::size_t t = spec.count("ask_at"); t < spec.tokens; t += spec.count("ask_every")) {
    runs.push_back({static_cast<Position>(t), static_cast<Position>(t + 1)});
    if (spec.count("ask_every") == 0) break;
  }
  return runs;
}

// Every block has another topic than the one before it, all others equally likely.
std::vector<std::uint32_t> draw_topics(const SyntheticSpec& spec, const Rng& rng) {
  const std::size_t blocks = (spec.tokens - 1) / spec.count("block") + 1;
  const std::size_t topics = spec.count("topics");
  std::vector<std::uint32_t> topic(blocks, 0);
  for (std::size_t b = 1; b < blocks; ++b) {
    // Block numbers are below the stream's length; index 1 separates these draws from those of the
    // anchors.
    const std::uint64_t step =
        1 + rng.below(topics - 1, static_cast<Position>(b), draw_index(Purpose::plan, 1));
    topic[b] = static_cast<std::uint32_t>((topic[b - 1] + step) % topics);
  }
  return topic;
}

}  // namespace

UnitPlan plan_needle(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head) {
  UnitPlan plan = background_plan(spec);
  const Rng rng = synthetic_rng(spec, layer, kv_head);
  const std::uint64_t moved = rng.below(spec.count("spread") + 1, 0, draw_index(Purpose::plan));
  const auto needle = static_cast<Position>(spec.count("position") + moved);
  plan.keys[needle].part = Part::planted;

  const double mass = spec.at("mass");
  Plant plant{"needle", mass, needle_queries(spec, needle), {{needle, 1}}};
  for (const Run& run : plant.queries) {
    for (Position t = run.first; t < run.last; ++t) plan.queries[t].mass = {0, mass, 1 - mass};
  }
  plan.plants.push_back(std::move(plant));
  return plan;
}

UnitPlan plan_topics(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head) {
  UnitPlan plan = background_plan(spec);
  const Rng rng = synthetic_rng(spec, layer, kv_head);
  const auto block = static_cast<Position>(spec.count("block"));
  const double mass = spec.at("mass");
  const std::vector<std::uint32_t> topic = draw_topics(spec, rng);

  std::vector<Plant> plants(spec.count("topics"), Plant{"topic", mass, {}, {}});
  for (Position b = 0; b < topic.size(); ++b) {
    const Run whole{b * block, (b + 1) * block};
    const auto end = std::min(whole.last, static_cast<Position>(spec.tokens));
    Plant& plant = plants[topic[b]];
    plant.queries.push_back({whole.first, end});
    for (Position t = whole.first; t < end; ++t) {
      plan.queries[t] = {{0, mass, 1 - mass}, topic[b]};
    }
    for (const Position anchor : draw_positions(rng, whole, spec.count("anchors"))) {
      if (anchor >= end) continue;
      plan.keys[anchor] = {Part::planted, topic[b], 0};
      plant.keys.push_back({anchor, 1});
    }
  }
  for (Plant& plant : plants) {
    for (PlantedKey& key : plant.keys) key.share = 1 / static_cast<double>(plant.keys.size());
    if (!plant.keys.empty()) plan.plants.push_back(std::move(plant));
  }
  return plan;
}

}  // namespace kv
