// A model: its configuration, and its weights: where they lie in mapped files, or as they were made
// when it was opened.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/file.h"
#include "kvcheck/base/number.h"
#include "kvcheck/model/kernels/quantised.h"
#include "kvcheck/model/weights/config.h"

namespace kv::model {

// A matrix of weights, row-major, one row per output. Not necessarily aligned.
struct Matrix {
  Number number = Number::f32;
  const std::byte* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  Quantisation quantised = Quantisation::none;  // otherwise `data` are codes, and `number` is f32
  const float* scales = nullptr;                // [rows, scales_of_row], of quantised weights

  [[nodiscard]] std::size_t bytes_per_row() const {
    if (quantised != Quantisation::none) return code_bytes(quantised, columns);
    return columns * (number == Number::f32 ? 4U : 2U);
  }

  // Of everything that is stored, scales included.
  [[nodiscard]] std::size_t bytes() const {
    const bool scaled = quantised != Quantisation::none;
    return rows * (bytes_per_row() + (scaled ? 4 * scales_of_row(quantised, columns) : 0));
  }

  [[nodiscard]] const std::byte* row(std::size_t index) const {
    return data + index * bytes_per_row();
  }

  // Row `index` as floats: out [columns]. Requires weights that are not int8, whose scales kernels
  // apply to sums.
  void widen_row(std::size_t index, float* out) const;
};

// y = W x + b; an empty bias adds nothing.
struct Linear {
  Matrix weight;
  std::vector<float> bias;  // [rows] or empty
};

// y = (x - mean) / deviation * gain + shift (LayerNorm), or x / root mean square * gain (RMSNorm).
struct Norm {
  std::vector<float> gain;   // [width]; empty: there is no norm here
  std::vector<float> shift;  // [width]; empty for RMSNorm
};

struct LayerWeights {
  Norm before_attention;  // of what it reads; some families have none
  Linear query;           // [heads * head_dim, width]
  Linear key;             // [kv_heads * head_dim, width]
  Linear value;           // [kv_heads * head_dim, width]
  Linear output;          // [width, heads * head_dim]
  Norm before_mlp;
  Linear gate;             // [inner, width]; only with a gated MLP
  Linear up;               // [inner, width]
  Linear down;             // [width, inner]
  Norm of_queries{};       // [head_dim] for each head, or [heads * head_dim] for all together
  Norm of_keys{};          // ... as many as keys have
  Norm after_attention{};  // of what is added to the residual stream
  Norm after_mlp{};
};

// A layer's linear maps with their names in messages. An MLP without a gate has no data for it.
inline constexpr std::array<std::pair<Linear LayerWeights::*, const char*>, 7> layer_matrices = {{
    {&LayerWeights::query, "query"},
    {&LayerWeights::key, "key"},
    {&LayerWeights::value, "value"},
    {&LayerWeights::output, "output"},
    {&LayerWeights::gate, "gate"},
    {&LayerWeights::up, "up"},
    {&LayerWeights::down, "down"},
}};

struct LanguageModel {
  ModelConfig config;
  Matrix embedding;  // [vocabulary, width]
  Matrix positions;  // [context, width]; only with learned positions
  std::vector<LayerWeights> layers;
  Norm last;
  Matrix head;  // [vocabulary, width]

  // What keeps the bytes alive that the matrices point to: mapped files, or memory of models that
  // were made; and what was made for the layers alone, split, transposed or quantised.
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<std::shared_ptr<const void>> owners;
  std::vector<std::shared_ptr<const void>> layer_owners;

  // Bytes of all matrices with their scales, the embedding once.
  [[nodiscard]] std::size_t weight_bytes() const;

  // Error if one of the files was written to or has another size since it was opened, so that what
  // the model computed may come from a mixture of weights. Weights are too large for a checksum.
  [[nodiscard]] Result<void> unchanged() const;
};

// Opens a model by what `path` is: a directory in Hugging Face's layout (config.json and
// model.safetensors or its shards), a GGUF file, or a llama2.c checkpoint. Weights stay in the
// mapped files, except fused or transposed ones, which are copied once. Errors are one sentence
// that names the file, the entry or tensor, what was found there and what was expected.
Result<LanguageModel> open_model(const std::string& path);

}  // namespace kv::model
