#include "kvcheck/traces/synthetic/plan.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"

namespace kv {

Rng synthetic_rng(const SyntheticSpec& spec, std::size_t layer, std::size_t head) {
  // A policy draws with the user's seed and the same stream. With that seed here, the trace would
  // depend on the same random numbers as the policy.
  constexpr std::uint64_t apart = 0xA5C3'96D2'7E1B'4F08;
  return Rng(spec.seed ^ apart, stream_of(layer, head));
}

std::uint32_t draw_index(Purpose purpose, std::size_t count) {
  KV_CHECK(count < 65536);
  return static_cast<std::uint32_t>(purpose) << 16 | static_cast<std::uint32_t>(count);
}

std::vector<Position> draw_positions(const Rng& rng, Run from, std::size_t count) {
  KV_CHECK(count <= from.size());
  std::vector<std::pair<std::uint64_t, Position>> order;
  order.reserve(from.size());
  for (Position p = from.first; p < from.last; ++p) {
    order.emplace_back(rng.bits(p, draw_index(Purpose::plan)), p);
  }
  std::sort(order.begin(), order.end());

  std::vector<Position> drawn(count);
  for (std::size_t i = 0; i < count; ++i) drawn[i] = order[i].second;
  return drawn;
}

UnitPlan background_plan(const SyntheticSpec& spec) {
  UnitPlan plan;
  plan.keys.resize(spec.tokens);
  plan.queries.resize(spec.tokens);
  plan.label_bits = label_bits(spec);
  for (const SyntheticParameter& parameter : spec.generator->parameters) {
    if (parameter.name == "decay") plan.slope = 1 / spec.at("decay");
    if (parameter.name == "noise") plan.noise = spec.at("noise");
  }
  return plan;
}

}  // namespace kv
