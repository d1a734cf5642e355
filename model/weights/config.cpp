#include "kvcheck/model/weights/config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/base/text/text.h"

namespace kv::model {
namespace {

struct Size {
  std::string_view name;
  std::size_t value;
};

Error contradiction(std::string_view name, std::size_t value, const std::string& expected) {
  return malformed(std::string(name) + " is " + std::to_string(value) + "; expected " + expected);
}

}  // namespace

Result<void> check_config(const ModelConfig& config, const ConfigWords& words) {
  // Far above any model, and low enough that no product of two sizes overflows.
  constexpr std::size_t most = std::size_t{1} << 24;
  const std::array<Size, 8> sizes = {{{words.layers, config.layers},
                                      {words.width, config.width},
                                      {words.heads, config.heads},
                                      {words.kv_heads, config.kv_heads},
                                      {"head_dim", config.head_dim},
                                      {words.inner, config.inner},
                                      {words.vocabulary, config.vocabulary},
                                      {words.context, config.context}}};
  for (const Size& size : sizes) {
    if (size.value == 0 || size.value > most) {
      return contradiction(size.name, size.value, "1 to " + std::to_string(most));
    }
  }
  if (config.heads % config.kv_heads != 0) {
    return contradiction(words.kv_heads, config.kv_heads,
                         "a divisor of the " + std::to_string(config.heads) + " heads");
  }
  // As an f32, to which a double far from 1 rounds to 0 or infinity: all norms would give nonsense.
  if (!(config.epsilon > 0 && config.epsilon <= 1)) {
    return malformed(
        words.epsilon + " is " +
        (std::isfinite(config.epsilon) ? shortest(double{config.epsilon}) : "infinite") +
        "; expected a number above 0, at most 1");
  }
  if (config.rope.layout != RopeLayout::none &&
      (config.rope.dims == 0 || config.rope.dims % 2 != 0 || config.rope.dims > config.head_dim)) {
    return contradiction("the number of rotating dimensions", config.rope.dims,
                         "an even number from 2 to the head's " + std::to_string(config.head_dim));
  }
  if (!config.by_layer.empty() && config.by_layer.size() != config.layers) {
    return contradiction("the number of layers whose kind is given", config.by_layer.size(),
                         "as many as there are layers, " + std::to_string(config.layers));
  }
  const Rope& local = config.local_rope;
  if (local.layout != RopeLayout::none &&
      (local.dims == 0 || local.dims % 2 != 0 || local.dims > config.head_dim)) {
    return contradiction("the number of dimensions that rotate locally", local.dims,
                         "an even number from 2 to the head's " + std::to_string(config.head_dim));
  }
  return {};
}

bool ModelConfig::has_windows() const {
  return std::ranges::any_of(by_layer, [](const LayerSettings& one) { return one.window > 0; });
}

bool ModelConfig::has_several_rotations() const {
  return std::ranges::any_of(by_layer, [&](const LayerSettings& one) {
    return one.rotation != by_layer.front().rotation;
  });
}

}  // namespace kv::model
