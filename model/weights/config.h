// The shape of a model: what its configuration says, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/traces/trace.h"

namespace kv::model {

// Families that differ in the names and layouts of their tensors. What they compute is said by the
// other members of ModelConfig, so that a family is a row of a table (model/weights/families.cpp).
enum class Architecture { llama, phi3, gpt_neox, gpt2, gpt_neo };

enum class Activation {
  silu,       // x * sigmoid(x)
  gelu,       // x * Phi(x), Phi the normal distribution function
  gelu_tanh,  // the same by its approximation with tanh
  relu,
};

// Which norms a layer has, and of which kind.
struct Norms {
  enum class Kind {
    rms,           // x / root mean square * gain
    rms_from_one,  // the same; files store the gain less one (Gemma)
    layer,         // (x - mean) / deviation * gain + shift
  };
  enum class Projected {
    none,
    head,   // queries and keys are normalised, each head on its own (Qwen3, Gemma 3)
    whole,  // ... all heads of a token together (OLMo 2)
  };

  Kind kind = Kind::rms;
  bool before = true;  // of what attention and MLP read
  bool after = false;  // of what they add
  Projected projected = Projected::none;
};

// How rotation frequencies are stretched for contexts longer than the first training's.
struct RopeScaling {
  enum class Kind { none, linear, llama3, dynamic, yarn, longrope, divided };

  Kind kind = Kind::none;
  double factor = 1;
  // Of llama3; a configuration has to give all three.
  double low_frequency = 0;   // rotations in the first context: below this, all is stretched
  double high_frequency = 0;  // ... and above this, nothing is
  double first_context = 0;   // the first training's context; also of the kinds that follow
  // Of yarn: pairs with more rotations than `fast` are left, with fewer than `slow` stretched.
  double fast = 32;
  double slow = 1;
  bool whole_pairs = true;  // the limits between are rounded to whole pairs
  // Of longrope: what each pair's frequency is divided by, in texts up to the first context and in
  // longer ones. Of divided: the first list, for all texts.
  std::vector<double> short_factors{};
  std::vector<double> long_factors{};
  // Cosines and sines are multiplied by this (yarn, longrope). Here the rotating dimensions of
  // queries are multiplied by its square instead, which gives the same attention.
  double attention_factor = 1;

  bool operator==(const RopeScaling&) const = default;

  // Whether the frequencies depend on how long the text is.
  [[nodiscard]] bool by_length() const { return kind == Kind::dynamic || kind == Kind::longrope; }
};

// How the keys and queries of a layer are rotated.
enum class LayerRotation {
  main,   // by `rope` and `scaling`
  local,  // by `local_rope`, unscaled: layers with a window, in Gemma 3
  none,   // not at all: some layers of SmolLM3
};

// What the attention of one layer does differently from others.
struct LayerSettings {
  std::size_t window = 0;  // a query sees this many newest positions, its own included; 0: all
  LayerRotation rotation = LayerRotation::main;
  // Queries are multiplied by this before attention, which divides by the root of head_dim: it is 1
  // unless the family has another scale.
  double query_scale = 1;

  bool operator==(const LayerSettings&) const = default;
};

struct ModelConfig {
  Architecture architecture = Architecture::llama;
  std::string name;  // the family's name in the configuration
  std::string note;  // what must be said wherever the model is shown: entry 'kvcheck_note'
  std::size_t layers = 0;
  std::size_t width = 0;  // of the residual stream
  std::size_t heads = 0;
  std::size_t kv_heads = 0;  // divides heads; query head h reads kv-head h / (heads / kv_heads)
  std::size_t head_dim = 0;
  std::size_t inner = 0;  // width of the MLP
  std::size_t vocabulary = 0;
  std::size_t context = 0;  // the longest text it was trained on
  float epsilon = 1e-5F;    // of the norms
  Rope rope;
  RopeScaling scaling;
  Rope local_rope{};
  Norms norms{};
  Activation activation = Activation::silu;
  bool gated = true;      // the MLP's output is multiplied by an activated gate (SwiGLU, GeGLU)
  bool tied = false;      // the output layer is the embedding
  bool parallel = false;  // attention and MLP read the same residual stream
  bool learned = false;   // positions are learned, and part of the input
  bool attention_bias = false;  // of queries, keys and values
  bool output_bias = false;     // of the attention's output
  bool mlp_bias = false;
  double embedding_scale = 1;  // a token's embedding is multiplied by this
  double residual_scale = 1;   // ... and so is what attention and MLP add
  double logit_scale = 1;      // ... and so are the logits of the vocabulary
  double attention_cap = 0;    // attention's logits x become cap * tanh(x / cap); 0: they do not
  double logit_cap = 0;        // the same for those of the vocabulary
  std::vector<LayerSettings> by_layer{};  // [layers]; empty: all as LayerSettings begins
  std::optional<std::int32_t> begin_token;
  std::vector<std::int32_t> end_tokens;  // each ends a text

  // Keys that stand for one position in one layer.
  [[nodiscard]] std::size_t kv_width() const { return kv_heads * head_dim; }

  [[nodiscard]] std::size_t query_width() const { return heads * head_dim; }

  // Whether rows of keys carry no rotation, their positions being learned and part of the input.
  [[nodiscard]] bool learned_positions() const { return learned; }

  [[nodiscard]] LayerSettings layer(std::size_t index) const {
    return by_layer.empty() ? LayerSettings{} : by_layer[index];
  }

  // Whether a layer's queries see only the newest positions.
  [[nodiscard]] bool has_windows() const;
  // Whether layers differ in how they rotate.
  [[nodiscard]] bool has_several_rotations() const;
};

// What errors call the numbers of a configuration.
struct ConfigWords {
  std::string layers = "layers";
  std::string width = "width";
  std::string heads = "heads";
  std::string kv_heads = "kv_heads";
  std::string inner = "inner";
  std::string vocabulary = "vocabulary";
  std::string context = "context";
  std::string epsilon = "the epsilon of the norms";
};

// What every maker of a configuration ends with. Errors name the value that contradicts another.
Result<void> check_config(const ModelConfig& config, const ConfigWords& words = {});

// The rotation of the layers of that kind; of none, the layout is none.
Rope rope_of(const ModelConfig& config, LayerRotation rotation);

// The rotation per position of each pair of rotating dimensions of `rope_of(config, rotation)`, in
// radians: [dims / 2], for a text of `length` tokens. 0 stands for a text within the first context;
// only the kinds that say by_length() depend on it.
//
// Source: Hugging Face transformers, modeling_rope_utils.py: linear (kaiokendev), dynamic (NTK by
// the text's length), llama3 (apply_scaling of Meta's llama-models), yarn (Peng et al.,
// arXiv:2309.00071) and longrope (Ding et al., arXiv:2402.13753). All numbers come from the
// configuration, never from here. Differs: transformers rotates the keys of a cache that grows past
// the first context by other frequencies than later keys; here a text has one table from the start,
// which is that of a single pass over all of it.
std::vector<double> rope_frequencies(const ModelConfig& config,
                                     LayerRotation rotation = LayerRotation::main,
                                     std::size_t length = 0);

// The positions that such frequencies hold for: below this. 0: all.
std::size_t rotation_limit(const ModelConfig& config, std::size_t length);

// The text of a Hugging Face config.json. Errors name the entry, not the file.
Result<ModelConfig> parse_config(std::string_view json);

}  // namespace kv::model
