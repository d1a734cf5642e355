#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <vector>

#include "kvcheck/base/text/text.h"
#include "kvcheck/model/weights/config.h"
#include "kvcheck/model/weights/config_reader.h"
#include "kvcheck/model/weights/families.h"
#include "kvcheck/model/weights/parse_detail.h"

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

void read_sizes(ConfigReader& reader, const Family& family, ModelConfig& config) {
  const SizeNames& names = family.sizes;
  config.width = reader.count(names.width);
  config.layers = reader.count(names.layers);
  config.heads = reader.count(names.heads);
  const bool shares = !names.kv_heads.empty();
  config.kv_heads = shares ? reader.count(names.kv_heads, config.heads) : config.heads;
  // GPT-2 and GPT-Neo leave the width of the MLP out.
  config.inner =
      config.learned ? reader.count(names.inner, 4 * config.width) : reader.count(names.inner);
  config.context = reader.count(names.context);
  config.head_dim = family.head_dim;
  // Those whose queries share no keys have no such entry either, and their binders rely on it.
  if (shares && reader.find("head_dim") != nullptr) {
    config.head_dim = reader.count("head_dim");
  } else if (family.head_dim == 0 && config.heads > 0) {
    config.head_dim = config.width / config.heads;
    if (config.width % config.heads == 0) return;
    reader.keep("has a width of " + std::to_string(config.width) + " and " +
                std::to_string(config.heads) + " heads; expected a multiple of the heads");
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

// What no family that opens here has.
void refuse_others(ConfigReader& reader) {
  if (reader.find("quantization_config") != nullptr) {
    reader.keep("has a 'quantization_config'; expected weights of f32, f16 or bf16");
  }
  for (const char* name :
       {"is_encoder_decoder", "add_cross_attention", "tie_encoder_decoder", "use_bfloat16"}) {
    reader.require(name, false);
  }
  reader.require("pruned_heads", json::object());
}

// Numbers far from any model's make frequencies that no double holds.
Result<void> check_frequencies(const ModelConfig& config) {
  // Far above any model; what is checked below takes time in proportion.
  constexpr std::size_t most = 1 << 16;
  if (config.head_dim > most) {
    return malformed("has heads of " + std::to_string(config.head_dim) +
                     " numbers; expected at most " + std::to_string(most));
  }
  for (const LayerRotation rotation : {LayerRotation::main, LayerRotation::local}) {
    // Only the first and the last context, as frequencies depend on the length monotonically.
    for (const std::size_t length : {std::size_t{0}, std::size_t{1} << 32}) {
      for (const double frequency : rope_frequencies(config, rotation, length)) {
        if (std::isfinite(frequency)) continue;
        return malformed("has a rotation by more than any number; expected a base near 10000");
      }
    }
  }
  return {};
}

ConfigWords words_of(const Family& family) {
  ConfigWords words;
  const auto entry = [](std::string_view name) { return "'" + std::string(name) + "'"; };
  const SizeNames& names = family.sizes;
  words.layers = entry(names.layers);
  words.width = entry(names.width);
  words.heads = entry(names.heads);
  if (!names.kv_heads.empty()) words.kv_heads = entry(names.kv_heads);
  words.inner = entry(names.inner);
  words.vocabulary = entry("vocab_size");
  words.context = entry(names.context);
  words.epsilon = entry(family.epsilon);
  return words;
}

void read_family(ConfigReader& reader, const Family& family, ModelConfig& config) {
  config.architecture = family.architecture;
  config.learned = family.theta == 0;
  config.vocabulary = reader.count("vocab_size");
  // After the vocabulary, which limits their numbers.
  read_ends(reader, config);
  refuse_others(reader);
  read_sizes(reader, family, config);
  config.norms = family.norms;
  config.epsilon = static_cast<float>(reader.real(family.epsilon, family.default_epsilon));
  config.activation = read_activation(reader, family.activation, family.default_activation);
  config.gated = family.gated;
  config.tied = reader.flag("tie_word_embeddings", family.tied);
  if (!config.learned) config.rope = {RopeLayout::half, config.head_dim, family.theta};
  family.rest(reader, config);
  if (!config.learned) read_rope(reader, config);
  reader.ignore(harmless_entries());
  reader.ignore(family.harmless);
  reader.finish("a " + config.name + " model");
}

}  // namespace

std::vector<LayerSettings>& layer_settings(ConfigReader& reader, ModelConfig& config) {
  // One wrong number must not allocate much.
  constexpr std::size_t most = 1 << 16;
  if (config.layers > most) {
    reader.keep("has " + std::to_string(config.layers) + " layers; expected at most " +
                std::to_string(most));
  } else {
    config.by_layer.resize(config.layers);
  }
  return config.by_layer;
}

void read_windows(ConfigReader& reader,
                  ModelConfig& config,
                  std::size_t window,
                  const std::function<bool(std::size_t layer)>& slides,
                  std::string_view pattern) {
  const std::vector<std::string> types = reader.words("layer_types");
  if (!types.empty() && types.size() != config.layers) {
    reader.keep("has 'layer_types' of " + std::to_string(types.size()) + " layers; expected " +
                std::to_string(config.layers));
    return;
  }
  std::vector<LayerSettings>& layers = layer_settings(reader, config);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool sliding = types.empty() ? slides(i) : types[i] == "sliding_attention";
    if (!types.empty() && !sliding && types[i] != "full_attention") {
      constexpr std::array<std::string_view, 2> words = {"full_attention", "sliding_attention"};
      return reader.keep("has an " + unknown_word("layer type", types[i], words));
    }
    if (sliding != slides(i) && !pattern.empty() && reader.find(pattern) != nullptr) {
      return reader.keep("has a 'layer_types' that is '" + types[i] + "' for layer " +
                         std::to_string(i) + ", which is not what its '" + std::string(pattern) +
                         "' says; expected one of the two, or equal ones");
    }
    if (!sliding) continue;
    layers[i].window = window;
    if (window > 0) continue;
    reader.keep("has a window in layer " + std::to_string(i) +
                " and no length of it; expected one in 'sliding_window', in use");
  }
}

void refuse_windows(ConfigReader& reader, const ModelConfig& config) {
  if (reader.find("layer_types") == nullptr) return;
  const std::vector<std::string> types = reader.words("layer_types");
  const bool all_full =
      std::ranges::count(types, "full_attention") == static_cast<std::ptrdiff_t>(config.layers);
  if (all_full && types.size() == config.layers) return;
  reader.keep_wrong("layer_types", *reader.find("layer_types"),
                    "'full_attention' for each of the " + std::to_string(config.layers) +
                        " layers, because a " + config.name + " model has no windows");
}

Result<ModelConfig> parse_config(std::string_view text) {
  json::error_code failed;
  const json::value parsed = json::parse(json::string_view(text.data(), text.size()), failed);
  if (failed) return malformed("is no JSON: " + failed.message());
  if (!parsed.is_object()) return malformed("holds no object; expected a model's configuration");
  return config_of(parsed.get_object());
}

Result<ModelConfig> config_of(const json::object& entries) {
  ConfigReader reader(entries, "");
  ModelConfig config;
  config.name = reader.word("model_type", "");
  if (!reader.problem().empty()) return malformed(reader.problem());
  std::vector<std::string> words;
  for (const Family& one : families()) words.emplace_back(one.name);
  if (config.name.empty()) {
    return malformed("has no 'model_type'; expected one of " + join(words, ", "));
  }
  const auto family = std::ranges::find(families(), config.name, &Family::name);
  if (family == families().end()) {
    const std::vector<std::string_view> names(words.begin(), words.end());
    if (config.name == "gemma3") {
      return Error{
          Error::Kind::unsupported,
          "has the model_type 'gemma3', a model of texts and images; expected 'gemma3_text', "
          "as the directory of a model of texts alone has"};
    }
    return Error{Error::Kind::unsupported,
                 "has an " + unknown_word("model_type", config.name, names)};
  }
  config.note = reader.word("kvcheck_note", "");
  read_family(reader, *family, config);
  if (!reader.problem().empty()) return malformed(reader.problem());
  if (Result<void> checked = check_config(config, words_of(*family)); !checked) {
    return malformed("contradicts itself: " + checked.error().message);
  }
  if (Result<void> checked = check_frequencies(config); !checked) return checked.error();
  return config;
}

}  // namespace kv::model
