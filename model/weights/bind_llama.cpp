#include "kvcheck/model/weights/bind_detail.h"

namespace kv::model {
namespace {

Result<void> bind_layer(Binder& binder, const std::string& at, LayerWeights& layer) {
  const ModelConfig& config = binder.model.config;
  const std::size_t width = config.width;
  const bool bias = config.attention_bias;
  // Qwen2 has biases on query, key and value but none on the output.
  const bool output_bias = bias && config.name != "qwen2";
  const std::string attention = at + "self_attn.";
  Result<void> bound = binder.norm(at + "input_layernorm", false, layer.before_attention);
  const auto linear = [&](const std::string& name, std::size_t rows, std::size_t columns,
                          bool shifted, Linear& into) {
    if (bound) bound = binder.linear(name, rows, columns, shifted, into);
  };
  linear(attention + "q_proj", config.query_width(), width, bias, layer.query);
  linear(attention + "k_proj", config.kv_width(), width, bias, layer.key);
  linear(attention + "v_proj", config.kv_width(), width, bias, layer.value);
  linear(attention + "o_proj", width, config.query_width(), output_bias, layer.output);
  linear(at + "mlp.gate_proj", config.inner, width, config.mlp_bias, layer.gate);
  linear(at + "mlp.up_proj", config.inner, width, config.mlp_bias, layer.up);
  linear(at + "mlp.down_proj", width, config.inner, config.mlp_bias, layer.down);
  if (bound) bound = binder.norm(at + "post_attention_layernorm", false, layer.before_mlp);
  return bound;
}

}  // namespace

Result<void> bind_llama(Binder& binder) {
  LanguageModel& model = binder.model;
  Result<void> bound = binder.embedding("model.embed_tokens.weight", "lm_head.weight");
  for (std::size_t i = 0; bound && i < model.layers.size(); ++i) {
    bound = bind_layer(binder, "model.layers." + std::to_string(i) + ".", model.layers[i]);
  }
  if (bound) bound = binder.norm("model.norm", false, model.last);
  if (bound) bound = binder.head("lm_head.weight");
  return bound;
}

}  // namespace kv::model
