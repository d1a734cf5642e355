#include "kvcheck/model/codes/store_weights.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kvcheck/model/codes/kept_codes.h"

namespace kv::model {
namespace {

Quantisation quantisation_of(WeightFormat format) {
  return format == WeightFormat::int8 ? Quantisation::int8 : Quantisation::nf4;
}

using Owners = std::vector<std::shared_ptr<const void>>;

void store_as_floats(Matrix& matrix, Owners& owners) {
  const auto floats = std::make_shared<std::vector<float>>(matrix.rows * matrix.columns);
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    matrix.widen_row(r, floats->data() + r * matrix.columns);
  }
  matrix.number = Number::f32;
  matrix.quantised = Quantisation::none;
  matrix.data = reinterpret_cast<const std::byte*>(floats->data());
  owners.push_back(floats);
}

// False if a number is not finite.
bool store_as_codes(Matrix& matrix, Quantisation kind, Owners& owners) {
  const std::size_t bytes = code_bytes(kind, matrix.columns);
  const std::size_t per_row = scales_of_row(kind, matrix.columns);
  const auto codes = std::make_shared<std::vector<std::byte>>(matrix.rows * bytes);
  const auto scales = std::make_shared<std::vector<float>>(matrix.rows * per_row);
  std::vector<float> row(matrix.columns);
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    matrix.widen_row(r, row.data());
    if (!std::ranges::all_of(row, [](float weight) { return std::isfinite(weight); })) return false;
    quantise_row(kind, row, codes->data() + r * bytes, scales->data() + r * per_row);
  }
  matrix.number = Number::f32;
  matrix.quantised = kind;
  matrix.data = codes->data();
  matrix.scales = scales->data();
  owners.push_back(codes);
  owners.push_back(scales);
  return true;
}

Error not_finite(std::size_t layer, const std::string& name) {
  return malformed("the " + name + " matrix of layer " + std::to_string(layer) +
                   " has a number that is not finite; expected weights that can be scaled");
}

std::size_t weights_of_layers(const LanguageModel& model) {
  std::size_t weights = 0;
  for (const Matrix* matrix : matrices_of(model)) weights += matrix->rows * matrix->columns;
  return weights;
}

Result<void> store_layers(LanguageModel& model, WeightFormat format) {
  Owners owners;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    for (const auto& [member, name] : layer_matrices) {
      Matrix& matrix = (model.layers[layer].*member).weight;
      if (matrix.data == nullptr) continue;
      if (format == WeightFormat::f32) {
        store_as_floats(matrix, owners);
      } else if (!store_as_codes(matrix, quantisation_of(format), owners)) {
        return not_finite(layer, name);
      }
    }
  }
  // Last, because matrices that were copied when the model was opened are read until here.
  model.layer_owners = std::move(owners);
  return {};
}

}  // namespace

Result<void> store_weights(LanguageModel& model, WeightFormat format, const KeptCodes& kept) {
  if (format == WeightFormat::as_is) return {};
  const bool keep = format != WeightFormat::f32 && !kept.path.empty() &&
                    weights_of_layers(model) >= kept.smallest;
  if (!keep) return store_layers(model, format);
  const Quantisation kind = quantisation_of(format);
  const std::string file = kept_codes_path(kept.path, kind);
  if (take_kept_codes(file, kind, model)) return {};
  if (auto stored = store_layers(model, format); !stored) return stored;
  // If the folder cannot be written, the codes are made again the next time.
  static_cast<void>(keep_codes(file, kind, model));
  return {};
}

}  // namespace kv::model
