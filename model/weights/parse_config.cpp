#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "kvcheck/base/text/describe.h"
#include "kvcheck/base/text/text.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/model/weights/config_reader.h"

namespace kv::model {
namespace {

namespace json = boost::json;

Activation read_activation(ConfigReader& reader,
                           std::string_view name,
                           std::string_view otherwise) {
  constexpr std::array<std::string_view, 7> words = {
      "silu", "swish", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "relu"};
  constexpr std::array<Activation, 7> meanings = {
      Activation::silu,      Activation::silu,      Activation::gelu, Activation::gelu_tanh,
      Activation::gelu_tanh, Activation::gelu_tanh, Activation::relu};
  const std::string word = reader.word(name, otherwise);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return meanings[i];
  }
  reader.keep("has an " + unknown_word("activation", word, words));
  return Activation::silu;
}

RopeScaling read_scaling(ConfigReader& reader, std::string_view name) {
  const json::value* value = reader.find(name);
  if (value == nullptr) return {};
  if (!value->is_object()) {
    reader.keep_wrong(name, *value, "an object");
    return {};
  }
  ConfigReader inner(value->get_object(), std::string(name) + ".");
  // Older exports call it "type".
  const std::string word = inner.word("rope_type", inner.word("type", "default"));
  RopeScaling scaling;
  if (word == "linear") scaling.kind = RopeScaling::Kind::linear;
  if (word == "llama3") scaling.kind = RopeScaling::Kind::llama3;
  if (scaling.kind != RopeScaling::Kind::none) scaling.factor = inner.real("factor", 0);
  if (scaling.kind == RopeScaling::Kind::llama3) {
    // No defaults: a checkpoint that leaves one out was trained with numbers that we cannot know.
    scaling.low_frequency = inner.real("low_freq_factor", 0);
    scaling.high_frequency = inner.real("high_freq_factor", 0);
    scaling.first_context = static_cast<double>(inner.count("original_max_position_embeddings"));
    if (!(scaling.high_frequency > scaling.low_frequency && scaling.low_frequency > 0)) {
      inner.keep("has '" + std::string(name) +
                 "' whose low_freq_factor is not between 0 and its high_freq_factor");
    }
  } else if (scaling.kind == RopeScaling::Kind::none && word != "default") {
    inner.keep("has '" + std::string(name) + "' of type " + shown(word) +
               "; expected default, linear or llama3");
  }
  if (scaling.kind != RopeScaling::Kind::none && scaling.factor <= 0) {
    inner.keep("has '" + std::string(name) + "' without a 'factor'");
  }
  if (!inner.problem().empty()) reader.keep(inner.problem());
  return scaling;
}

void read_common(ConfigReader& reader, ModelConfig& config) {
  config.width = reader.count("hidden_size");
  config.layers = reader.count("num_hidden_layers");
  config.heads = reader.count("num_attention_heads");
  config.inner = reader.count("intermediate_size");
  config.context = reader.count("max_position_embeddings");
}

// The size of a head, of configurations that do not state it.
std::size_t even_share(ConfigReader& reader, const ModelConfig& config) {
  if (config.heads == 0) return 0;
  if (config.width % config.heads != 0) {
    reader.keep("has a width of " + std::to_string(config.width) + " and " +
                std::to_string(config.heads) + " heads; expected a multiple of the heads");
  }
  return config.width / config.heads;
}

// The leading dimensions of a head that rotate, as a share of all.
std::size_t rotating(ConfigReader& reader, double share, const ModelConfig& config) {
  if (share > 1) {
    reader.keep("rotates " + shortest(share) + " of each head; expected a share of at most 1");
    return 0;
  }
  return static_cast<std::size_t>(share * static_cast<double>(config.head_dim));
}

// Newer configurations have the base beside the scaling, in one object.
void read_rope(ConfigReader& reader, ModelConfig& config) {
  constexpr std::string_view together = "rope_parameters";
  const json::value* value = reader.find(together);
  config.scaling = read_scaling(reader, value == nullptr ? "rope_scaling" : together);
  if (value == nullptr || !value->is_object()) return;
  ConfigReader inner(value->get_object(), std::string(together) + ".");
  config.rope.theta = inner.real("rope_theta", config.rope.theta);
  const double share = inner.real("partial_rotary_factor", 0);
  if (share > 0) config.rope.dims = rotating(inner, share, config);
  if (!inner.problem().empty()) reader.keep(inner.problem());
}

void read_llama(ConfigReader& reader, ModelConfig& config) {
  read_common(reader, config);
  config.kv_heads = reader.count("num_key_value_heads", config.heads);
  config.head_dim =
      reader.find("head_dim") != nullptr ? reader.count("head_dim") : even_share(reader, config);
  config.epsilon = static_cast<float>(reader.real("rms_norm_eps", 1e-6));
  config.activation = read_activation(reader, "hidden_act", "silu");
  config.rope = {RopeLayout::half, config.head_dim, reader.real("rope_theta", 10000)};
  read_rope(reader, config);
  config.tied = reader.flag("tie_word_embeddings", false);
  // Qwen2 has these biases always, and no entry for them.
  config.attention_bias = config.name == "qwen2" || reader.flag("attention_bias", false);
  config.mlp_bias = reader.flag("mlp_bias", false);
  if (reader.flag("use_sliding_window", false)) {
    reader.keep("asks for 'use_sliding_window'; here policies decide what is kept, so turn it off");
  }
}

void read_gpt_neox(ConfigReader& reader, ModelConfig& config) {
  read_common(reader, config);
  config.kv_heads = config.heads;
  config.head_dim = even_share(reader, config);
  config.epsilon = static_cast<float>(reader.real("layer_norm_eps", 1e-5));
  config.activation = read_activation(reader, "hidden_act", "gelu");
  // Exports of newer transformers rename rotary_pct and rotary_emb_base.
  const double share = reader.real("rotary_pct", reader.real("partial_rotary_factor", 0.25));
  config.rope = {RopeLayout::half, rotating(reader, share, config),
                 reader.real("rotary_emb_base", reader.real("rope_theta", 10000))};
  read_rope(reader, config);
  config.tied = reader.flag("tie_word_embeddings", false);
  config.parallel = reader.flag("use_parallel_residual", true);
  config.attention_bias = reader.flag("attention_bias", true);
  config.mlp_bias = true;
}

void read_gpt2(ConfigReader& reader, ModelConfig& config) {
  config.width = reader.count("n_embd");
  config.layers = reader.count("n_layer");
  config.heads = reader.count("n_head");
  config.kv_heads = config.heads;
  config.head_dim = even_share(reader, config);
  // The published configurations leave n_inner out or null.
  config.inner = reader.count("n_inner", 4 * config.width);
  config.context = reader.count("n_positions", reader.count("n_ctx", 0));
  config.epsilon = static_cast<float>(reader.real("layer_norm_epsilon", 1e-5));
  config.activation = read_activation(reader, "activation_function", "gelu_new");
  config.tied = reader.flag("tie_word_embeddings", true);
  config.attention_bias = true;
  config.mlp_bias = true;
  // Variants that would silently compute other numbers are refused, here and above.
  if (reader.flag("scale_attn_by_inverse_layer_idx", false)) {
    reader.keep("asks for 'scale_attn_by_inverse_layer_idx', which this kvcheck does not know");
  }
}

void read_ends(ConfigReader& reader, ModelConfig& config) {
  const auto read = [&](std::string_view name) {
    std::vector<std::int32_t> tokens = reader.tokens(name);
    for (const std::int32_t token : tokens) {
      if (static_cast<std::size_t>(token) < config.vocabulary) continue;
      reader.keep("has '" + std::string(name) + "' = " + std::to_string(token) +
                  "; expected less than its 'vocab_size' of " + std::to_string(config.vocabulary));
    }
    return tokens;
  };
  // A list is allowed for either; a text begins with one token but may end with any of several.
  if (const auto begins = read("bos_token_id"); !begins.empty()) config.begin_token = begins[0];
  config.end_tokens = read("eos_token_id");
}

struct Family {
  std::string_view name;
  Architecture architecture;
  void (*read)(ConfigReader&, ModelConfig&);
};

constexpr std::array<Family, 4> families = {{{"llama", Architecture::llama, read_llama},
                                             {"qwen2", Architecture::llama, read_llama},
                                             {"gpt_neox", Architecture::gpt_neox, read_gpt_neox},
                                             {"gpt2", Architecture::gpt2, read_gpt2}}};

}  // namespace

Result<ModelConfig> parse_config(std::string_view text) {
  json::error_code failed;
  const json::value parsed = json::parse(json::string_view(text.data(), text.size()), failed);
  if (failed) return malformed("is no JSON: " + failed.message());
  if (!parsed.is_object()) return malformed("holds no object; expected a model's configuration");
  ConfigReader reader(parsed.get_object(), "");
  ModelConfig config;
  config.name = reader.word("model_type", "");
  if (!reader.problem().empty()) return malformed(reader.problem());
  if (config.name.empty())
    return malformed("has no 'model_type'; expected one of llama, qwen2, gpt_neox, gpt2");
  const Family* family = nullptr;
  std::array<std::string_view, families.size()> names;
  for (std::size_t i = 0; i < families.size(); ++i) {
    names[i] = families[i].name;
    if (names[i] == config.name) family = &families[i];
  }
  if (family == nullptr) {
    return Error{Error::Kind::unsupported,
                 "has an " + unknown_word("model_type", config.name, names)};
  }
  config.note = reader.word("kvcheck_note", "");
  config.architecture = family->architecture;
  config.vocabulary = reader.count("vocab_size");
  // After the vocabulary, which limits their numbers.
  read_ends(reader, config);
  // Refused by name: otherwise the error would be about a tensor of an unexpected type.
  if (reader.find("quantization_config") != nullptr) {
    reader.keep("has a 'quantization_config'; expected weights of f32, f16 or bf16");
  }
  family->read(reader, config);
  if (!reader.problem().empty()) return malformed(reader.problem());
  if (Result<void> checked = check_config(config); !checked) {
    return malformed("contradicts itself: " + checked.error().message);
  }
  return config;
}

}  // namespace kv::model
