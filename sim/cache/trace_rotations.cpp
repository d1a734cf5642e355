#include "kvcheck/sim/cache/trace_rotations.h"

#include <algorithm>
#include <utility>

namespace kv {
namespace {

// What makes the angles of a layer.
struct Angles {
  Rope rope;
  std::vector<double> frequencies;

  bool operator==(const Angles&) const = default;
};

Angles angles_of(const TraceInfo& info, std::size_t layer) {
  const LayerRules rules = rules_of(info, layer);
  if (rules.layout == RopeLayout::none) return {};
  Rope rope = info.rope;
  rope.layout = rules.layout;
  return {rope, frequencies_of(info, layer)};
}

// The different ones, and which of them each layer has.
std::pair<std::vector<Angles>, std::vector<std::size_t>> all_angles(const TraceInfo& info) {
  std::vector<Angles> different;
  std::vector<std::size_t> by_layer;
  for (std::size_t layer = 0; layer < info.layers.size(); ++layer) {
    Angles angles = angles_of(info, layer);
    const auto at = std::ranges::find(different, angles);
    by_layer.push_back(static_cast<std::size_t>(at - different.begin()));
    if (at == different.end()) different.push_back(std::move(angles));
  }
  return {std::move(different), std::move(by_layer)};
}

}  // namespace

std::vector<double> frequencies_of(const TraceInfo& info, std::size_t layer) {
  const LayerRules rules = rules_of(info, layer);
  if (!rules.frequencies.empty()) return rules.frequencies;
  Rope rope = info.rope;
  rope.layout = rules.layout;
  return plain_frequencies(rope);
}

std::size_t different_rotations(const TraceInfo& info) {
  return all_angles(info).first.size();
}

TraceRotations::TraceRotations(const TraceInfo& info, std::size_t positions) {
  auto [different, by_layer] = all_angles(info);
  by_layer_ = std::move(by_layer);
  for (const Angles& angles : different) {
    rotations_.push_back(std::make_unique<const One>(angles.rope, angles.frequencies, positions));
  }
}

}  // namespace kv
