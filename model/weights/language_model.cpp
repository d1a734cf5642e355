#include "kvcheck/model/weights/language_model.h"

#include <filesystem>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/text/describe.h"
#include "kvcheck/model/gguf/container.h"
#include "kvcheck/model/weights/model_formats.h"

namespace kv::model {

void Matrix::widen_row(std::size_t index, float* out) const {
  KV_CHECK(quantised != Quantisation::int8);
  if (quantised == Quantisation::none) return kernels().widen(number, row(index), columns, out);
  widen_codes({quantised, data, scales, rows, columns}, index, out);
}

std::size_t LanguageModel::weight_bytes() const {
  std::size_t total = embedding.bytes() + positions.bytes();
  // Tied, the output layer is the embedding, and its bytes count once.
  if (head.data != embedding.data) total += head.bytes();
  for (const LayerWeights& layer : layers) {
    for (const Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.output, &layer.gate,
                                 &layer.up, &layer.down}) {
      total += linear->weight.bytes();
    }
  }
  return total;
}

Result<void> LanguageModel::unchanged() const {
  for (const auto& file : files) {
    if (Result<void> same = file->unchanged(); !same) return same;
  }
  return {};
}

Result<LanguageModel> open_model(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status)) {
    return Error{Error::Kind::not_found, "there is no model at " + shown(path) +
                                             "; expected a directory with config.json, "
                                             "a GGUF file, or a llama2.c checkpoint"};
  }
  if (std::filesystem::is_directory(status)) return open_hugging_face(path);
  if (is_gguf(path)) return open_gguf_model(path);
  return open_llama2c(path);
}

}  // namespace kv::model
