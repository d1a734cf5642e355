#include <array>
#include <cstring>

#include "kvcheck/model/weights/bind_detail.h"

namespace kv::model {
namespace {

// The fused matrix has, for each head, head_dim rows of query, then of key, then of value.
void split(Binder& binder, const Linear& fused, LayerWeights& layer) {
  const ModelConfig& config = binder.model.config;
  const std::size_t rows = config.head_dim;
  const std::array<Linear*, 3> parts = {&layer.query, &layer.key, &layer.value};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    std::byte* bytes = nullptr;
    parts[part]->weight = binder.copy(fused.weight, config.query_width(), config.width, bytes);
    for (std::size_t head = 0; head < config.heads; ++head) {
      const std::size_t first = (3 * head + part) * rows;
      const std::size_t block = rows * fused.weight.bytes_per_row();
      std::memcpy(bytes + head * block, fused.weight.row(first), block);
      if (fused.bias.empty()) continue;
      const auto from = fused.bias.begin() + static_cast<std::ptrdiff_t>(first);
      parts[part]->bias.insert(parts[part]->bias.end(), from,
                               from + static_cast<std::ptrdiff_t>(rows));
    }
  }
}

Result<void> bind_layer(Binder& binder, const std::string& at, LayerWeights& layer) {
  const ModelConfig& config = binder.model.config;
  const std::size_t width = config.width;
  const bool bias = config.attention_bias;
  Linear fused;
  Result<void> bound = binder.norm(at + "input_layernorm", layer.before_attention);
  // The chain stops at the first error; those that follow are skipped.
  const auto linear = [&](const std::string& name, std::size_t rows, std::size_t columns,
                          bool shifted, Linear& into) {
    if (bound) bound = binder.linear(at + name, rows, columns, shifted, into);
  };
  linear("attention.query_key_value", 3 * width, width, bias, fused);
  linear("attention.dense", width, width, config.output_bias, layer.output);
  linear("mlp.dense_h_to_4h", config.inner, width, true, layer.up);
  linear("mlp.dense_4h_to_h", width, config.inner, true, layer.down);
  if (bound) bound = binder.norm(at + "post_attention_layernorm", layer.before_mlp);
  if (bound) split(binder, fused, layer);
  return bound;
}

}  // namespace

Result<void> bind_gpt_neox(Binder& binder) {
  LanguageModel& model = binder.model;
  Result<void> bound = binder.embedding("gpt_neox.embed_in.weight", "embed_out.weight");
  for (std::size_t i = 0; bound && i < model.layers.size(); ++i) {
    bound = bind_layer(binder, "gpt_neox.layers." + std::to_string(i) + ".", model.layers[i]);
  }
  if (bound) bound = binder.norm("gpt_neox.final_layer_norm", model.last);
  if (bound) bound = binder.head("embed_out.weight");
  return bound;
}

}  // namespace kv::model
