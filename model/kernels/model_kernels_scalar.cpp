#include <algorithm>
#include <cmath>
#include <vector>

#include "kvcheck/base/kernels/kernels_detail.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

namespace kv::model {
namespace {

// Row s of `bytes` as floats.
void widen_row(Number number, const std::byte* bytes, std::size_t s, std::vector<float>& row) {
  const std::size_t size = number == Number::f32 ? 4 : 2;
  supported_kernels().back()->widen(number, bytes + s * row.size() * size, row.size(), row.data());
}

void multiply(
    const WeightRows& weights, const float* x, std::size_t tokens, std::size_t stride, float* out) {
  std::vector<float> row(weights.columns);
  for (std::size_t r = 0; r < weights.rows; ++r) {
    widen_row(weights.number, weights.data, r, row);
    for (std::size_t t = 0; t < tokens; ++t) {
      out[t * stride + r] = scalar_dot(row.data(), x + t * weights.columns, weights.columns);
    }
  }
}

void multiply_quantised(const QuantisedRows& weights,
                        const float* x,
                        std::size_t tokens,
                        std::size_t stride,
                        float* out) {
  std::vector<float> row(weights.columns);
  // int8's one scale a row is applied to the finished sum; the others have a scale per block of the
  // row, so their weights are scaled as they are widened.
  const bool by_row = weights.kind == Quantisation::int8;
  for (std::size_t r = 0; r < weights.rows; ++r) {
    widen_codes(weights, r, row.data());
    for (std::size_t t = 0; t < tokens; ++t) {
      const float sum = scalar_dot(row.data(), x + t * weights.columns, weights.columns);
      out[t * stride + r] = by_row ? weights.scales[r] * sum : sum;
    }
  }
}

void logits(const SlotRows& keys,
            const float* queries,
            std::size_t heads,
            float scale,
            std::size_t stride,
            float* out) {
  std::vector<float> row(keys.dim);
  for (std::size_t i = 0; i < keys.count; ++i) {
    widen_row(static_cast<Number>(keys.storage), keys.rows, keys.slots[i], row);
    for (std::size_t h = 0; h < heads; ++h) {
      out[h * stride + i] = scale * scalar_dot(queries + h * keys.dim, row.data(), keys.dim);
    }
  }
}

void weigh(
    const SlotRows& values, const float* mass, std::size_t heads, std::size_t stride, float* out) {
  std::vector<float> row(values.dim);
  std::fill_n(out, heads * values.dim, 0.0F);
  for (std::size_t i = 0; i < values.count; ++i) {
    widen_row(static_cast<Number>(values.storage), values.rows, values.slots[i], row);
    for (std::size_t h = 0; h < heads; ++h) {
      const float weight = mass[h * stride + i];
      float* sum = out + h * values.dim;
      for (std::size_t j = 0; j < values.dim; ++j) sum[j] = std::fma(weight, row[j], sum[j]);
    }
  }
}

}  // namespace

const ModelKernels scalar_model_kernels = {.name = "scalar",
                                           .multiply = multiply,
                                           .multiply_quantised = multiply_quantised,
                                           .logits = logits,
                                           .weigh = weigh};

}  // namespace kv::model
