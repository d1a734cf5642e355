#include "kvcheck/tests/model/small_families.h"

#include <cstdlib>
#include <map>

namespace kv::test {
namespace {

struct Shape {
  std::string entries{};  // of the configuration, beside those that all have
  std::size_t dim = 8;
  bool biases = false;       // of queries, keys and values
  bool output_bias = false;  // of attention's output
  bool mlp_bias = false;
  bool tied = false;
  bool before = true;  // norms before the parts of a layer
  bool after = false;  // ... and after them
  std::size_t q_norm = 0;
  std::size_t k_norm = 0;
  bool layer_norm = false;
  bool fused = false;
  bool parallel = false;
  float gain = 1;  // of norms, as files store it: Gemma's less one
};

const std::map<std::string, Shape>& shapes() {
  static const std::map<std::string, Shape> all = {
      {"llama",
       {.entries = R"(,"attention_bias":true,"mlp_bias":true)",
        .biases = true,
        .output_bias = true,
        .mlp_bias = true}},
      {"mistral", {.entries = R"(,"sliding_window":7)"}},
      {"qwen2",
       {.entries = R"(,"use_sliding_window":true,"sliding_window":6,"max_window_layers":2)",
        .biases = true,
        .tied = true}},
      {"qwen3",
       {.entries = R"(,"use_sliding_window":true,"sliding_window":6,"max_window_layers":3,)"
                   R"("attention_bias":true)",
        .biases = true,
        .output_bias = true,
        .tied = true,
        .q_norm = 8,
        .k_norm = 8}},
      {"smollm3",
       {.entries = R"(,"no_rope_layers":[1,0,1,1],"use_sliding_window":true,"sliding_window":9)",
        .tied = true}},
      {"gemma", {.entries = R"(,"hidden_act":"gelu")", .tied = true, .gain = 0}},
      {"gemma2",
       {.entries = R"(,"query_pre_attn_scalar":5,"sliding_window":6,"attn_logit_softcapping":2.0,)"
                   R"("final_logit_softcapping":3.0,"hidden_activation":"gelu_pytorch_tanh")",
        .tied = true,
        .after = true,
        .gain = 0}},
      {"gemma3_text",
       {.entries = R"(,"query_pre_attn_scalar":5,"sliding_window":6,"sliding_window_pattern":3,)"
                   R"("rope_local_base_freq":100.0,"attn_logit_softcapping":2.0,)"
                   R"("final_logit_softcapping":3.0)",
        .tied = true,
        .after = true,
        .q_norm = 8,
        .k_norm = 8,
        .gain = 0}},
      {"phi3", {.entries = R"(,"sliding_window":11,"partial_rotary_factor":0.75)", .fused = true}},
      {"olmo2", {.before = false, .after = true, .q_norm = 32, .k_norm = 16}},
      {"granite",
       {.entries = R"(,"embedding_multiplier":3.0,"residual_multiplier":0.4,)"
                   R"("attention_multiplier":0.3,"logits_scaling":1.7)",
        .dim = 4}},
      {"stablelm",
       {.entries = R"(,"use_qkv_bias":true,"partial_rotary_factor":0.5)",
        .dim = 4,
        .biases = true,
        .layer_norm = true}},
  };
  return all;
}

void add_norm(
    SmallModel& model, const std::string& name, std::size_t size, bool layer_norm, float gain = 1) {
  model.add(name + ".weight", {size}, 0.2F, gain);
  if (layer_norm) model.add(name + ".bias", {size});
}

void add_linear(
    SmallModel& model, const std::string& name, std::size_t rows, std::size_t columns, bool bias) {
  model.add(name + ".weight", {rows, columns});
  if (bias) model.add(name + ".bias", {rows});
}

void add_layer(SmallModel& model, const std::string& at, const Shape& shape) {
  const std::size_t queries = 4 * shape.dim;
  const std::size_t keys = 2 * shape.dim;
  const std::string attention = at + "self_attn.";
  if (shape.before) add_norm(model, at + "input_layernorm", 16, shape.layer_norm, shape.gain);
  if (!shape.parallel)
    add_norm(model, at + "post_attention_layernorm", 16, shape.layer_norm, shape.gain);
  if (shape.after) add_norm(model, at + "post_feedforward_layernorm", 16, false, shape.gain);
  if (shape.after && shape.before)
    add_norm(model, at + "pre_feedforward_layernorm", 16, false, shape.gain);
  if (shape.q_norm > 0) add_norm(model, attention + "q_norm", shape.q_norm, false, shape.gain);
  if (shape.k_norm > 0) add_norm(model, attention + "k_norm", shape.k_norm, false, shape.gain);
  if (shape.fused) {
    add_linear(model, attention + "qkv_proj", queries + 2 * keys, 16, false);
    add_linear(model, at + "mlp.gate_up_proj", 48, 16, false);
  } else {
    add_linear(model, attention + "q_proj", queries, 16, shape.biases);
    add_linear(model, attention + "k_proj", keys, 16, shape.biases);
    add_linear(model, attention + "v_proj", keys, 16, shape.biases);
    add_linear(model, at + "mlp.gate_proj", 24, 16, shape.mlp_bias);
    add_linear(model, at + "mlp.up_proj", 24, 16, shape.mlp_bias);
  }
  add_linear(model, attention + "o_proj", 16, queries, shape.output_bias);
  add_linear(model, at + "mlp.down_proj", 16, 24, shape.mlp_bias);
}

SmallModel small_gpt_neo() {
  SmallModel model;
  model.config =
      R"({"model_type":"gpt_neo","hidden_size":16,"num_layers":4,"num_heads":4,"vocab_size":32,)"
      R"("max_position_embeddings":64,"attention_types":[[["global","local"],2]],"window_size":5,)"
      R"("layer_norm_epsilon":1e-05,"activation_function":"gelu_new"})";
  model.add("transformer.wte.weight", {32, 16}, 1).add("transformer.wpe.weight", {64, 16});
  for (const std::string layer : {"0", "1", "2", "3"}) {
    const std::string at = "transformer.h." + layer + ".";
    add_norm(model, at + "ln_1", 16, true);
    add_norm(model, at + "ln_2", 16, true);
    for (const std::string name : {"q_proj", "k_proj", "v_proj"}) {
      add_linear(model, at + "attn.attention." + name, 16, 16, false);
    }
    add_linear(model, at + "attn.attention.out_proj", 16, 16, true);
    add_linear(model, at + "mlp.c_fc", 64, 16, true);
    add_linear(model, at + "mlp.c_proj", 16, 64, true);
  }
  add_norm(model, "transformer.ln_f", 16, true);
  return model;
}

}  // namespace

SmallModel small_family(const std::string& model_type, const std::string& rest) {
  if (model_type == "gpt_neo") return small_gpt_neo();
  Shape shape = shapes().at(model_type);
  shape.parallel = rest.find(R"("use_parallel_residual":true)") != std::string::npos;
  SmallModel model;
  model.config =
      R"({"model_type":")" + model_type +
      R"(","hidden_size":16,"intermediate_size":24,"num_hidden_layers":4,"num_attention_heads":4,)"
      R"("num_key_value_heads":2,"vocab_size":32,"max_position_embeddings":32,)" +
      (shape.layer_norm ? R"("layer_norm_eps":1e-05)" : R"("rms_norm_eps":1e-05)") +
      (shape.dim == 8 ? R"(,"head_dim":8)" : "") + shape.entries + rest + "}";
  model.add("model.embed_tokens.weight", {32, 16}, 1);
  for (const std::string layer : {"0", "1", "2", "3"}) {
    add_layer(model, "model.layers." + layer + ".", shape);
  }
  add_norm(model, "model.norm", 16, shape.layer_norm, shape.gain);
  if (!shape.tied) model.add("lm_head.weight", {32, 16});
  if (shape.tied && (model_type == "qwen2" || model_type == "qwen3")) {
    model.set(R"("vocab_size")", R"("tie_word_embeddings":true,"vocab_size")");
  }
  return model;
}

std::vector<std::string> small_family_names() {
  std::vector<std::string> names;
  for (const auto& [name, shape] : shapes()) names.push_back(name);
  names.emplace_back("gpt_neo");
  return names;
}

}  // namespace kv::test
