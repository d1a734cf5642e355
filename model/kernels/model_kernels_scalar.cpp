#include <algorithm>
#include <array>
#include <vector>

#include "kvcheck/model/kernels/model_kernels_detail.h"

namespace kv::model {
namespace {

constexpr std::size_t lanes = 16;

float add_lanes(std::array<float, lanes> sums) {
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

// Products are rounded before they are added; lanes beyond the end add nothing, not even +0, which
// would turn a sum of -0 into +0.
float dot(const float* a, const float* b, std::size_t n) {
  std::array<float, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (std::size_t lane = 0; i + lane < n; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  return add_lanes(sums);
}

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
      out[t * stride + r] = dot(row.data(), x + t * weights.columns, weights.columns);
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
      const float sum = dot(row.data(), x + t * weights.columns, weights.columns);
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
      out[h * stride + i] = scale * dot(queries + h * keys.dim, row.data(), keys.dim);
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
      for (std::size_t j = 0; j < values.dim; ++j) sum[j] += weight * row[j];
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
