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

// Families that differ in where they normalise, add and rotate:
//   llama     RMSNorm, gated MLP, RoPE (Llama, Qwen2, llama2.c)
//   gpt_neox  LayerNorm, MLP, partial RoPE; attention and MLP may stand side by side (Pythia)
//   gpt2      LayerNorm, MLP, learned positions
enum class Architecture { llama, gpt_neox, gpt2 };

enum class Activation {
  silu,       // x * sigmoid(x)
  gelu,       // x * Phi(x), Phi the normal distribution function
  gelu_tanh,  // the same by its approximation with tanh
  relu,
};

// How rotation frequencies are stretched for contexts longer than the first training's.
struct RopeScaling {
  enum class Kind { none, linear, llama3 };

  Kind kind = Kind::none;
  double factor = 1;
  // Of llama3; a configuration has to give all three.
  double low_frequency = 0;   // rotations in the first context: below this, all is stretched
  double high_frequency = 0;  // ... and above this, nothing is
  double first_context = 0;   // the first training's context

  bool operator==(const RopeScaling&) const = default;
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
  Activation activation = Activation::silu;
  bool tied = false;      // the output layer is the embedding
  bool parallel = false;  // attention and MLP read the same residual stream
  bool attention_bias = false;
  bool mlp_bias = false;
  std::optional<std::int32_t> begin_token;
  std::vector<std::int32_t> end_tokens;  // each ends a text

  // Keys that stand for one position in one layer.
  [[nodiscard]] std::size_t kv_width() const { return kv_heads * head_dim; }

  [[nodiscard]] std::size_t query_width() const { return heads * head_dim; }

  // Whether rows of keys carry no rotation, their positions being learned and part of the input.
  [[nodiscard]] bool learned_positions() const { return architecture == Architecture::gpt2; }
};

// What every maker of a configuration ends with. Errors name the value that contradicts another.
Result<void> check_config(const ModelConfig& config);

// The rotation per position of each pair of rotating dimensions, in radians: [rope.dims / 2].
//
// Source of llama3's scaling: Hugging Face transformers, modeling_rope_utils.py
// (_compute_llama3_parameters), which follows apply_scaling of Meta's llama-models; the formula is
// the same, and its four numbers come from the configuration, never from here.
std::vector<double> rope_frequencies(const ModelConfig& config);

// The text of a Hugging Face config.json. Errors name the entry, not the file.
Result<ModelConfig> parse_config(std::string_view json);

}  // namespace kv::model
