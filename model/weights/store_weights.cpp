#include "kvcheck/model/weights/store_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace kv::model {
namespace {

using Owners = std::vector<std::shared_ptr<const void>>;

constexpr std::array<std::pair<Linear LayerWeights::*, const char*>, 7> matrices = {{
    {&LayerWeights::query, "query"},
    {&LayerWeights::key, "key"},
    {&LayerWeights::value, "value"},
    {&LayerWeights::output, "output"},
    {&LayerWeights::gate, "gate"},
    {&LayerWeights::up, "up"},
    {&LayerWeights::down, "down"},
}};

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

}  // namespace

Result<void> store_weights(LanguageModel& model, WeightFormat format) {
  if (format == WeightFormat::as_is) return {};
  const Quantisation kind = format == WeightFormat::int8 ? Quantisation::int8 : Quantisation::nf4;
  Owners owners;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    for (const auto& [member, name] : matrices) {
      Matrix& matrix = (model.layers[layer].*member).weight;
      // An MLP without a gate.
      if (matrix.data == nullptr) continue;
      if (format == WeightFormat::f32) {
        store_as_floats(matrix, owners);
      } else if (!store_as_codes(matrix, kind, owners)) {
        return malformed("the " + std::string(name) + " matrix of layer " + std::to_string(layer) +
                         " has a number that is not finite; expected weights that can be scaled");
      }
    }
  }
  // Last, because matrices that were copied when the model was opened are read until here.
  model.layer_owners = std::move(owners);
  return {};
}

}  // namespace kv::model
