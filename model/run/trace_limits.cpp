#include "kvcheck/model/run/trace_limits.h"

#include <algorithm>
#include <string>

namespace kv::model {
namespace {

Error cannot_express(const std::string& what) {
  return usage_error("traces of q/k/v cannot express " + what + "; expected kind attention");
}

}  // namespace

Result<void> check_vectors_suffice(const ModelConfig& config,
                                   std::span<const std::size_t> layers,
                                   std::size_t tokens) {
  if (config.attention_cap > 0) return cannot_express("this model's soft cap of attention");
  const LayerRotation first = config.layer(layers.front()).rotation;
  for (const std::size_t layer : layers) {
    const LayerSettings settings = config.layer(layer);
    const std::string name = "layer " + std::to_string(layer);
    if (settings.rotation != first) {
      return cannot_express("that " + name + " rotates unlike layer " +
                            std::to_string(layers.front()));
    }
    // A window as long as the text hides nothing.
    if (settings.window > 0 && settings.window < tokens) {
      return cannot_express("the window of " + std::to_string(settings.window) + " positions of " +
                            name);
    }
  }
  if (first != LayerRotation::main || config.scaling.kind == RopeScaling::Kind::none) return {};
  return cannot_express("this model's stretched rotation");
}

}  // namespace kv::model
