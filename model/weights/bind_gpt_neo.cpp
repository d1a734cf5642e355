#include "kvcheck/model/weights/bind_detail.h"

namespace kv::model {
namespace {

// The names are GPT-2's, but each matrix has one row per output, and queries, keys and values are
// three matrices without biases.
Result<void> bind_layer(Binder& binder, const std::string& at, LayerWeights& layer) {
  const ModelConfig& config = binder.model.config;
  const std::size_t width = config.width;
  const std::string attention = at + "attn.attention.";
  Result<void> bound = binder.norm(at + "ln_1", layer.before_attention);
  const auto linear = [&](const std::string& name, std::size_t rows, std::size_t columns, bool bias,
                          Linear& into) {
    if (bound) bound = binder.linear(name, rows, columns, bias, into);
  };
  linear(attention + "q_proj", width, width, config.attention_bias, layer.query);
  linear(attention + "k_proj", width, width, config.attention_bias, layer.key);
  linear(attention + "v_proj", width, width, config.attention_bias, layer.value);
  linear(attention + "out_proj", width, width, config.output_bias, layer.output);
  linear(at + "mlp.c_fc", config.inner, width, config.mlp_bias, layer.up);
  linear(at + "mlp.c_proj", width, config.inner, config.mlp_bias, layer.down);
  if (bound) bound = binder.norm(at + "ln_2", layer.before_mlp);
  return bound;
}

}  // namespace

Result<void> bind_gpt_neo(Binder& binder) {
  LanguageModel& model = binder.model;
  const std::string prefix = binder.files.has("transformer.ln_f.weight") ? "transformer." : "";
  Result<void> bound = binder.embedding(prefix + "wte.weight", "lm_head.weight");
  if (bound) bound = binder.table(prefix + "wpe.weight", model.config.context, model.positions);
  for (std::size_t i = 0; bound && i < model.layers.size(); ++i) {
    bound = bind_layer(binder, prefix + "h." + std::to_string(i) + ".", model.layers[i]);
  }
  if (bound) bound = binder.norm(prefix + "ln_f", model.last);
  if (bound) bound = binder.head("lm_head.weight");
  return bound;
}

}  // namespace kv::model
