#include "kvcheck/model/weights/family_readers.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "kvcheck/model/weights/parse_detail.h"

namespace kv::model {
namespace {

namespace json = boost::json;

// The root by which attention divides its logits, which another scale has to undo.
double root(const ModelConfig& config) {
  return std::sqrt(static_cast<double>(config.head_dim));
}

void scale_queries(ConfigReader& reader, ModelConfig& config, double factor) {
  for (LayerSettings& layer : layer_settings(reader, config)) layer.query_scale = factor;
}

// 'attention_bias' of queries, keys, values and output, and 'mlp_bias'.
void read_biases(ConfigReader& reader, ModelConfig& config) {
  config.attention_bias = reader.flag("attention_bias", false);
  config.output_bias = config.attention_bias;
  config.mlp_bias = reader.flag("mlp_bias", false);
}

void refuse_biases(ConfigReader& reader) {
  for (const char* name : {"attention_bias", "mlp_bias", "lm_head_bias"}) {
    reader.require(name, false);
  }
}

bool none_slides(std::size_t /*layer*/) {
  return false;
}

bool all_slide(std::size_t /*layer*/) {
  return true;
}

// Qwen: windows in the layers from 'max_window_layers' on, if they are in use.
void read_qwen_windows(ConfigReader& reader, ModelConfig& config) {
  reader.require("use_mrope", false);  // rotation by place in an image
  const bool on = reader.flag("use_sliding_window", false);
  // Null is no window; a missing entry has the family's default.
  const std::size_t window =
      reader.count("sliding_window", reader.given("sliding_window") ? 0 : 4096);
  const std::size_t first = reader.count("max_window_layers", 28);
  if (!on || window == 0) return read_windows(reader, config, 0, none_slides);
  read_windows(reader, config, window, [&](std::size_t layer) { return layer >= first; });
}

// Gemma: embeddings are multiplied by the root of their width. 'hidden_act' is read by none of the
// three; early exports have "gelu" there and mean the approximation.
void read_gemma_widths(ConfigReader& reader, ModelConfig& config) {
  config.embedding_scale = std::sqrt(static_cast<double>(config.width));
  const std::string word = reader.word("hidden_act", "gelu");
  if (reader.find("hidden_activation") != nullptr) return;
  if (word == "gelu" || word == "gelu_pytorch_tanh") return;
  reader.keep_wrong("hidden_act", *reader.find("hidden_act"),
                    "gelu_pytorch_tanh, or 'hidden_activation' beside it");
}

void read_gemma_attention(ConfigReader& reader, ModelConfig& config) {
  read_gemma_widths(reader, config);
  read_biases(reader, config);
  reader.require("use_bidirectional_attention", false);
  const double scalar = reader.factor("query_pre_attn_scalar", 256);
  const double scale = std::sqrt(static_cast<double>(config.head_dim) / scalar);
  for (LayerSettings& layer : layer_settings(reader, config)) layer.query_scale = scale;
}

// "attention_types": [[["global", "local"], 12]] stands for 24 words.
std::vector<std::string> attention_types(ConfigReader& reader) {
  const json::value* value = reader.find("attention_types");
  std::vector<std::string> words;
  if (value == nullptr) return words;
  const auto wrong = [&] {
    reader.keep_wrong("attention_types", *value, "a list of pairs: words, and how often");
    return std::vector<std::string>{};
  };
  if (!value->is_array()) return wrong();
  constexpr std::int64_t most = 1 << 16;
  for (const json::value& pair : value->get_array()) {
    if (!pair.is_array() || pair.get_array().size() != 2) return wrong();
    const json::value& kinds = pair.get_array()[0];
    const json::value& times = pair.get_array()[1];
    if (!kinds.is_array() || kinds.get_array().empty()) return wrong();
    if (!times.is_int64() || times.get_int64() < 0 || times.get_int64() > most) return wrong();
    for (std::int64_t i = 0; i < times.get_int64(); ++i) {
      for (const json::value& kind : kinds.get_array()) {
        if (!kind.is_string() || words.size() > most) return wrong();
        words.emplace_back(kind.get_string());
      }
    }
  }
  return words;
}

}  // namespace

void read_llama(ConfigReader& reader, ModelConfig& config) {
  read_biases(reader, config);
  reader.require("rope_interleaved", false);
  reader.require("use_sliding_window", false);
  refuse_windows(reader, config);
}

void read_mistral(ConfigReader& reader, ModelConfig& config) {
  refuse_biases(reader);
  // Without the entry the family's default holds; null means that there are no windows.
  const std::size_t otherwise = reader.given("sliding_window") ? 0 : 4096;
  const std::size_t window = reader.count("sliding_window", otherwise);
  read_windows(reader, config, window, window > 0 ? all_slide : none_slides);
}

void read_qwen2(ConfigReader& reader, ModelConfig& config) {
  refuse_biases(reader);
  // Always there, and no entry says so; the output has none.
  config.attention_bias = true;
  read_qwen_windows(reader, config);
}

void read_qwen3(ConfigReader& reader, ModelConfig& config) {
  read_biases(reader, config);
  reader.require("mlp_bias", false);
  read_qwen_windows(reader, config);
}

void read_smollm3(ConfigReader& reader, ModelConfig& config) {
  read_biases(reader, config);
  const std::size_t interval = std::max<std::size_t>(1, reader.count("no_rope_layer_interval", 4));
  const json::value* list = reader.find("no_rope_layers");
  std::vector<LayerSettings>& layers = layer_settings(reader, config);
  if (list != nullptr && (!list->is_array() || list->get_array().size() != layers.size())) {
    return reader.keep_wrong("no_rope_layers", *list, "a list of 0 and 1, one for each layer");
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const json::value* one = nullptr;
    if (list != nullptr && list->is_array()) one = list->get_array().if_contains(i);
    // The list has 1 for layers that rotate, whatever its name says.
    const bool rotates = list == nullptr ? (i + 1) % interval != 0 : one != nullptr && *one == 1;
    if (!rotates) layers[i].rotation = LayerRotation::none;
    if (list == nullptr || (one != nullptr && (*one == 0 || *one == 1))) continue;
    return reader.keep_wrong("no_rope_layers", *list, "a list of 0 and 1, one for each layer");
  }
  const bool on = reader.flag("use_sliding_window", false);
  const std::size_t window = reader.count("sliding_window", 0);
  if (!on) return read_windows(reader, config, 0, none_slides);
  read_windows(reader, config, window, [&](std::size_t layer) {
    return window > 0 && config.layer(layer).rotation == LayerRotation::none;
  });
}

void read_gemma(ConfigReader& reader, ModelConfig& config) {
  read_gemma_widths(reader, config);
  read_biases(reader, config);
  refuse_windows(reader, config);
}

void read_gemma2(ConfigReader& reader, ModelConfig& config) {
  read_gemma_attention(reader, config);
  const auto cap = [&](std::string_view name, double otherwise) {
    return reader.factor(name, reader.given(name) ? 0 : otherwise);
  };
  config.attention_cap = cap("attn_logit_softcapping", 50);
  config.logit_cap = cap("final_logit_softcapping", 30);
  const std::size_t window = reader.count("sliding_window", 4096);
  reader.require_equal("sliding_window", "sliding_window_size");
  read_windows(reader, config, window, [](std::size_t layer) { return layer % 2 == 0; });
}

void read_gemma3(ConfigReader& reader, ModelConfig& config) {
  read_gemma_attention(reader, config);
  config.attention_cap = reader.factor("attn_logit_softcapping", 0);
  config.logit_cap = reader.factor("final_logit_softcapping", 0);
  reader.require_equal("sliding_window_pattern", "_sliding_window_pattern");
  const std::size_t pattern =
      reader.count("sliding_window_pattern", reader.count("_sliding_window_pattern", 6));
  const std::size_t window = reader.count("sliding_window", 4096);
  const bool older = reader.find("sliding_window_pattern") != nullptr;
  read_windows(
      reader, config, window,
      [&](std::size_t layer) { return pattern > 0 && (layer + 1) % pattern != 0; },
      older ? "sliding_window_pattern" : "_sliding_window_pattern");
  for (LayerSettings& layer : config.by_layer) {
    if (layer.window > 0) layer.rotation = LayerRotation::local;
  }
  const double theta = reader.real("rope_local_base_freq", 10000);
  config.local_rope = {RopeLayout::half, config.head_dim, theta};
}

void read_phi3(ConfigReader& reader, ModelConfig& config) {
  refuse_biases(reader);
  for (const char* name : {"full_attn_mod", "interpolate_factor"}) reader.require(name, 1);
  const std::size_t window = reader.count("sliding_window", 0);
  read_windows(reader, config, window, window > 0 ? all_slide : none_slides);
  config.rope.dims = rotating_dims(reader, reader.real("partial_rotary_factor", 1), config);
}

void read_olmo2(ConfigReader& reader, ModelConfig& config) {
  read_biases(reader, config);
  reader.require("mlp_bias", false);
  refuse_windows(reader, config);
}

void read_granite(ConfigReader& reader, ModelConfig& config) {
  read_biases(reader, config);
  refuse_windows(reader, config);
  config.embedding_scale = reader.factor("embedding_multiplier", 1);
  config.residual_scale = reader.factor("residual_multiplier", 1);
  const double divisor = reader.factor("logits_scaling", 1);
  config.logit_scale = 1 / std::max(divisor, 1e-6);
  scale_queries(reader, config, reader.factor("attention_multiplier", 1) * root(config));
}

void read_stablelm(ConfigReader& reader, ModelConfig& config) {
  config.attention_bias = reader.flag("use_qkv_bias", false);
  config.parallel = reader.flag("use_parallel_residual", false);
  reader.require("qk_layernorm", false);
  config.rope.dims = rotating_dims(reader, reader.real("partial_rotary_factor", 0.25), config);
}

void read_gpt_neox(ConfigReader& reader, ModelConfig& config) {
  // Exports of newer transformers rename rotary_pct and rotary_emb_base.
  reader.require_equal("rotary_pct", "partial_rotary_factor");
  reader.require_equal("rotary_emb_base", "rope_theta");
  const double share = reader.real("rotary_pct", reader.real("partial_rotary_factor", 0.25));
  config.rope.dims = rotating_dims(reader, share, config);
  config.rope.theta = reader.real("rotary_emb_base", config.rope.theta);
  config.parallel = reader.flag("use_parallel_residual", true);
  config.attention_bias = reader.flag("attention_bias", true);
  config.output_bias = config.attention_bias;
  config.mlp_bias = true;
}

void read_gpt2(ConfigReader& reader, ModelConfig& config) {
  config.learned = config.attention_bias = config.output_bias = config.mlp_bias = true;
  reader.require_equal("n_positions", "n_ctx");
  const bool by_root = reader.flag("scale_attn_weights", true);
  const bool by_layer = reader.flag("scale_attn_by_inverse_layer_idx", false);
  if (by_root && !by_layer) return;
  std::vector<LayerSettings>& layers = layer_settings(reader, config);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double less = by_layer ? static_cast<double>(i + 1) : 1.0;
    layers[i].query_scale = (by_root ? 1 : root(config)) / less;
  }
}

void read_gpt_neo(ConfigReader& reader, ModelConfig& config) {
  config.learned = config.output_bias = config.mlp_bias = true;
  scale_queries(reader, config, root(config));
  const std::vector<std::string> listed = reader.words("attention_layers");
  const std::vector<std::string> typed = attention_types(reader);
  const std::vector<std::string>& words = listed.empty() ? typed : listed;
  if (!listed.empty() && !typed.empty() && listed != typed) {
    reader.keep("has 'attention_layers' that are not those of its 'attention_types'");
  }
  const std::size_t window = reader.count("window_size", 256);
  const bool two_words = std::ranges::all_of(
      words, [](const std::string& word) { return word == "global" || word == "local"; });
  if ((!words.empty() && words.size() != config.layers) || !two_words || window == 0) {
    return reader.keep("has " + std::to_string(words.size()) +
                       " words in 'attention_layers' or "
                       "'attention_types' and a 'window_size' of " +
                       std::to_string(window) + "; expected global or local for each of " +
                       std::to_string(config.layers) + " layers, and a window above 0");
  }
  for (std::size_t i = 0; i < config.by_layer.size(); ++i) {
    if (words.empty() ? i % 2 == 1 : words[i] == "local") config.by_layer[i].window = window;
  }
}

}  // namespace kv::model
