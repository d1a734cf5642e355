#include "kvcheck/model/run/trace_rules.h"

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/traces/metadata.h"

namespace kv::model {
namespace {

// The rotation by whose base the trace is described: that of the first layer that rotates.
LayerRotation base_rotation(const ModelConfig& config, const TraceInfo& info) {
  for (const std::size_t layer : info.layers) {
    const LayerRotation rotation = config.layer(layer).rotation;
    if (rope_of(config, rotation).layout != RopeLayout::none) return rotation;
  }
  return LayerRotation::none;
}

LayerRules rules_of_layer(const ModelConfig& config,
                          std::size_t layer,
                          std::size_t tokens,
                          LayerRotation base) {
  const LayerSettings settings = config.layer(layer);
  const Rope rope = rope_of(config, settings.rotation);
  LayerRules rules{.layout = rope.layout, .cap = config.attention_cap};
  const bool scaled =
      settings.rotation == LayerRotation::main && config.scaling.kind != RopeScaling::Kind::none;
  if (rope.layout != RopeLayout::none && (scaled || settings.rotation != base)) {
    KV_CHECK(rope.dims == rope_of(config, base).dims);
    rules.frequencies = rope_frequencies(config, settings.rotation, tokens);
  }
  // A window as long as the text hides nothing.
  if (settings.window < tokens) rules.window = settings.window;
  return rules;
}

}  // namespace

void state_attention(const ModelConfig& config, std::size_t tokens, TraceInfo& info) {
  const LayerRotation base = base_rotation(config, info);
  info.rope = rope_of(config, base);
  for (const std::size_t layer : info.layers) {
    info.rules.push_back(rules_of_layer(config, layer, tokens, base));
  }
  if (!needs_version_2(info)) info.rules.clear();
}

}  // namespace kv::model
