#include <array>
#include <cstring>

#include "kvcheck/model/weights/bind_detail.h"

namespace kv::model {
namespace {

// Columns [first, first + rows) of `from` as the rows of a new matrix.
Matrix transposed(Binder& binder, const Matrix& from, std::size_t first, std::size_t rows) {
  std::byte* bytes = nullptr;
  const Matrix made = binder.copy(from, rows, from.rows, bytes);
  const std::size_t size = from.number == Number::f32 ? 4 : 2;
  for (std::size_t column = 0; column < from.rows; ++column) {
    const std::byte* source = from.row(column) + first * size;
    for (std::size_t row = 0; row < rows; ++row) {
      std::memcpy(bytes + (row * from.rows + column) * size, source + row * size, size);
    }
  }
  return made;
}

Linear part_of(Binder& binder, const Linear& fused, std::size_t first, std::size_t rows) {
  const auto bias = fused.bias.begin() + static_cast<std::ptrdiff_t>(first);
  return {transposed(binder, fused.weight, first, rows),
          {bias, bias + static_cast<std::ptrdiff_t>(rows)}};
}

// GPT-2's layers are "Conv1D": `name`.weight is [inputs, outputs], the transpose of a linear
// layer's.
Result<Linear> column_linear(Binder& binder,
                             const std::string& name,
                             std::size_t inputs,
                             std::size_t outputs) {
  Linear linear;
  const Result<Matrix> weight = binder.files.matrix(name + ".weight", inputs, outputs);
  if (!weight) return weight.error();
  linear.weight = *weight;
  Result<std::vector<float>> bias = binder.files.vector(name + ".bias", outputs);
  if (!bias) return bias.error();
  linear.bias = *std::move(bias);
  return linear;
}

Result<void> bind_layer(Binder& binder, const std::string& at, LayerWeights& layer) {
  const ModelConfig& config = binder.model.config;
  const std::size_t width = config.width;
  if (auto bound = binder.norm(at + "ln_1", layer.before_attention); !bound) return bound;
  if (auto bound = binder.norm(at + "ln_2", layer.before_mlp); !bound) return bound;
  const Result<Linear> fused = column_linear(binder, at + "attn.c_attn", width, 3 * width);
  if (!fused) return fused.error();
  // c_attn has the outputs of query, key and value side by side, each of all heads.
  const std::array<Linear*, 3> parts = {&layer.query, &layer.key, &layer.value};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    *parts[part] = part_of(binder, *fused, part * width, width);
  }
  const auto whole = [&](const std::string& name, std::size_t inputs, std::size_t outputs,
                         Linear& into) -> Result<void> {
    const Result<Linear> found = column_linear(binder, at + name, inputs, outputs);
    if (!found) return found.error();
    into = part_of(binder, *found, 0, outputs);
    return {};
  };
  if (auto bound = whole("attn.c_proj", width, width, layer.output); !bound) return bound;
  if (auto bound = whole("mlp.c_fc", width, config.inner, layer.up); !bound) return bound;
  return whole("mlp.c_proj", config.inner, width, layer.down);
}

}  // namespace

Result<void> bind_gpt2(Binder& binder) {
  LanguageModel& model = binder.model;
  // Exports of the bare transformer leave the prefix out.
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
