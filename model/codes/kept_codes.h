// Codes that were made of a model's weights (int8, nf4), kept beside the model.
//
// A file of kept codes begins with a text of a multiple of 64 bytes, which says what the file holds
// and of which state of which files; then come the scales of all matrices (f32) and their codes, in
// the order of layers and layer_matrices. It is used only if the text is the expected one and the
// checksum in it is that of the rest.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/model/kernels/quantised.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// The layers' matrices that a model has, in their order. `Model` may be const.
template <typename Model>
auto matrices_of(Model& model) {
  std::vector<decltype(&model.layers[0].query.weight)> all;
  for (auto& layer : model.layers) {
    for (const auto& [member, name] : layer_matrices) {
      auto& matrix = (layer.*member).weight;
      if (matrix.data != nullptr) all.push_back(&matrix);
    }
  }
  return all;
}

// The file for the model at `path`: PATH/kvcheck-int8.weights in a directory, PATH.kvcheck-int8
// beside a file. Not a name in .safetensors, which other programs would take for a shard.
std::string kept_codes_path(const std::string& path, Quantisation kind);

// Points the layers' matrices at the codes in `file`, which becomes one of the model's files. False
// if it is not there, is damaged, or was made of other files or by another rule; the model is then
// as it was. Requires a model as it was opened. Cost: reads the file once.
bool take_kept_codes(const std::string& file, Quantisation kind, LanguageModel& model);

// Writes the codes of a model whose layers are stored as `kind`. Errors: those of writing, and a
// model whose files changed since they were opened. A file that another process has just written
// for the same model remains.
Result<void> keep_codes(const std::string& file, Quantisation kind, const LanguageModel& model);

}  // namespace kv::model
