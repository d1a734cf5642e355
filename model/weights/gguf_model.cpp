#include "kvcheck/model/weights/model_formats.h"

#include <algorithm>
#include <array>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/gguf/configuration.h"
#include "kvcheck/model/gguf/container.h"
#include "kvcheck/model/weights/bind_detail.h"
#include "kvcheck/model/weights/parse_detail.h"

namespace kv::model {
namespace {

Result<ModelConfig> read_config(const Gguf& gguf) {
  const Result<GgufConfiguration> found = gguf_configuration(gguf);
  if (!found) return found.error();
  Result<ModelConfig> config = config_of(found->entries);
  if (!config) return Error{config.error().kind, in_keys_of_file(config.error().message, *found)};
  if (found->interleaved) config->rope.layout = RopeLayout::interleaved;
  if (!found->frequency_divisors.empty()) {
    config->scaling.kind = RopeScaling::Kind::divided;
    config->scaling.short_factors = found->frequency_divisors;
  }
  // llama.cpp's converter has added the one.
  if (config->norms.kind == Norms::Kind::rms_from_one) config->norms.kind = Norms::Kind::rms;
  // No entry says which biases there are, but the tensors do.
  config->attention_bias =
      gguf.tensors.contains("blk.0.attn_q.bias") || gguf.tensors.contains("blk.0.attn_qkv.bias");
  config->output_bias = gguf.tensors.contains("blk.0.attn_output.bias");
  config->mlp_bias = gguf.tensors.contains("blk.0.ffn_up.bias");
  return config;
}

// GPT-2 and GPT-NeoX: in these files their matrices have one row per output, and the fused one has
// all queries, then all keys, then all values.
Result<void> bind_fused_layer(Binder& binder, const std::string& at, LayerWeights& layer) {
  const ModelConfig& config = binder.model.config;
  const std::size_t width = config.width;
  Linear fused;
  Result<void> bound = binder.norm(at + "input_layernorm", layer.before_attention);
  if (bound) bound = binder.norm(at + "post_attention_layernorm", layer.before_mlp);
  if (bound) {
    bound =
        binder.linear(at + "self_attn.qkv_proj", 3 * width, width, config.attention_bias, fused);
  }
  if (!bound) return bound;
  const std::array<Linear*, 3> parts = {&layer.query, &layer.key, &layer.value};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    *parts[part] = Binder::rows_of(fused, part * width, width);
  }
  bound = binder.linear(at + "self_attn.o_proj", width, width, config.output_bias, layer.output);
  if (bound) {
    bound = binder.linear(at + "mlp.up_proj", config.inner, width, config.mlp_bias, layer.up);
  }
  if (bound) {
    bound = binder.linear(at + "mlp.down_proj", width, config.inner, config.mlp_bias, layer.down);
  }
  return bound;
}

Result<void> bind_fused(Binder& binder) {
  LanguageModel& model = binder.model;
  Result<void> bound = binder.embedding("model.embed_tokens.weight", "lm_head.weight");
  if (bound && model.config.learned) {
    bound = binder.table("position_embd.weight", model.config.context, model.positions);
  }
  for (std::size_t i = 0; bound && i < model.layers.size(); ++i) {
    bound = bind_fused_layer(binder, "model.layers." + std::to_string(i) + ".", model.layers[i]);
  }
  if (bound) bound = binder.norm("model.norm", model.last);
  if (bound) bound = binder.head("lm_head.weight");
  return bound;
}

Result<void> bind(Binder& binder) {
  const Architecture architecture = binder.model.config.architecture;
  const bool fused = architecture == Architecture::gpt2 || architecture == Architecture::gpt_neox;
  return fused ? bind_fused(binder) : bind_llama(binder);
}

// What gguf_configuration() reads.
bool holds_factors(std::string_view name) {
  constexpr std::array<std::string_view, 3> names = {
      "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"};
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Result<LanguageModel> open_gguf_model(const std::string& path) {
  const Result<GgufFile> opened = open_gguf(path);
  if (!opened) return opened.error();
  const Result<ModelConfig> config = read_config(opened->content);
  if (!config) return Error{config.error().kind, shown(path) + " " + config.error().message};
  LanguageModel model;
  model.config = *config;
  model.files = {opened->file};
  TensorFiles files = TensorFiles::of_gguf(path, *opened, config->norms.after);
  Binder binder{files, model};
  if (Result<void> made = binder.make_layers(); !made) return made.error();
  if (Result<void> bound = bind(binder); !bound) return bound.error();
  for (const std::string& name : files.unknown()) {
    if (holds_factors(name)) continue;
    return malformed(shown(path) + " has a tensor " + shown(name) + " that a " + config->name +
                     " model of this configuration does not use");
  }
  return model;
}

}  // namespace kv::model
