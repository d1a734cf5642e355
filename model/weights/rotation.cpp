#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kvcheck/model/weights/config.h"

namespace kv::model {
namespace {

// How much of a pair's frequency is left as it is, from 0 (stretched by the factor) to 1.
double llama3_kept(const RopeScaling& scaling, double frequency) {
  // Full rotations of the pair within the first context. Pairs with few are stretched by the
  // factor, pairs with many are left as they are, and between the two limits one fades into the
  // other (Llama 3.1's rope_scaling).
  const double rotations = scaling.first_context * frequency / (2 * std::numbers::pi);
  return (rotations - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency);
}

// The pairs between which YaRN fades: from the last that is left to the first that is stretched.
std::array<double, 2> yarn_range(const Rope& rope, const RopeScaling& scaling) {
  const auto dims = static_cast<double>(rope.dims);
  // The pair, as a real number, that makes so many rotations in the first context.
  const auto pair_of = [&](double rotations) {
    return dims * std::log(scaling.first_context / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
  };
  double low = pair_of(scaling.fast);
  double high = pair_of(scaling.slow);
  if (scaling.whole_pairs) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dims - 1);
  // As the source does where both are one pair.
  return {low, low == high ? high + 0.001 : high};
}

double yarn_kept(const Rope& rope, const RopeScaling& scaling, std::size_t pair) {
  const auto [low, high] = yarn_range(rope, scaling);
  return 1 - std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
}

// The base for a text of this length: it grows so that the slowest pair rotates as far as it would
// within the first context.
double dynamic_base(const Rope& rope, const RopeScaling& scaling, std::size_t length) {
  const double reach = std::max(static_cast<double>(length), scaling.first_context);
  const double stretch = scaling.factor * reach / scaling.first_context - (scaling.factor - 1);
  const auto dims = static_cast<double>(rope.dims);
  return rope.theta * std::pow(stretch, dims / (dims - 2));
}

double scaled(const Rope& rope, const RopeScaling& scaling, std::size_t pair, std::size_t length) {
  using Kind = RopeScaling::Kind;
  const bool dynamic = scaling.kind == Kind::dynamic;
  const double base = dynamic ? dynamic_base(rope, scaling, length) : rope.theta;
  const double frequency =
      std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(rope.dims));
  switch (scaling.kind) {
    case Kind::none:
    case Kind::dynamic:
      return frequency;
    case Kind::linear:
      return frequency / scaling.factor;
    case Kind::llama3: {
      const double kept = std::fmin(std::fmax(llama3_kept(scaling, frequency), 0.0), 1.0);
      return frequency * (kept + (1 - kept) / scaling.factor);
    }
    case Kind::yarn: {
      const double kept = yarn_kept(rope, scaling, pair);
      return frequency * (kept + (1 - kept) / scaling.factor);
    }
    case Kind::divided:
      return frequency / scaling.short_factors[pair];
    case Kind::longrope:
      return frequency / (static_cast<double>(length) > scaling.first_context
                              ? scaling.long_factors[pair]
                              : scaling.short_factors[pair]);
  }
  return frequency;
}

}  // namespace

Rope rope_of(const ModelConfig& config, LayerRotation rotation) {
  if (rotation == LayerRotation::none) return {};
  return rotation == LayerRotation::local ? config.local_rope : config.rope;
}

std::vector<double> rope_frequencies(const ModelConfig& config,
                                     LayerRotation rotation,
                                     std::size_t length) {
  const Rope rope = rope_of(config, rotation);
  if (rope.layout == RopeLayout::none) return {};
  const RopeScaling scaling = rotation == LayerRotation::main ? config.scaling : RopeScaling{};
  std::vector<double> frequencies(rope.dims / 2);
  for (std::size_t pair = 0; pair < frequencies.size(); ++pair) {
    frequencies[pair] = scaled(rope, scaling, pair, length);
  }
  return frequencies;
}

std::size_t rotation_limit(const ModelConfig& config, std::size_t length) {
  if (!config.scaling.by_length()) return 0;
  const auto first = static_cast<std::size_t>(config.scaling.first_context);
  if (length <= first) return first;
  // A longer text has a larger base, but all that are past the first context have one longrope.
  return config.scaling.kind == RopeScaling::Kind::longrope ? 0 : length;
}

}  // namespace kv::model
