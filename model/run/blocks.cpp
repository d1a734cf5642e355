#include "kvcheck/model/run/blocks.h"

#include <cmath>
#include <numbers>

#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {
namespace {

// In double, so that the rounding is that of the result, whatever the C library.
double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::gelu:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh: {
      const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
      return 0.5 * x * (1 + std::tanh(inner));
    }
    case Activation::relu:
      return x > 0 ? x : 0;
  }
  return x;
}

}  // namespace

void normalise(const Norm& norm, float epsilon, std::size_t tokens, const float* in, float* out) {
  const std::size_t width = norm.gain.size();
  const bool centred = !norm.shift.empty();
  for (std::size_t t = 0; t < tokens; ++t, in += width, out += width) {
    // LayerNorm subtracts the mean; RMSNorm, which has no shift, does not. In double, so that
    // the sums of a wide layer are right to the last bit of a float.
    double mean = 0;
    for (std::size_t i = 0; centred && i < width; ++i) mean += static_cast<double>(in[i]);
    mean /= static_cast<double>(width);
    double squares = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double x = static_cast<double>(in[i]) - mean;
      squares += x * x;
    }
    const double variance = squares / static_cast<double>(width);
    const double scale = 1 / std::sqrt(variance + static_cast<double>(epsilon));
    for (std::size_t i = 0; i < width; ++i) {
      const double x = (static_cast<double>(in[i]) - mean) * scale;
      out[i] = static_cast<float>(x) * norm.gain[i] + (centred ? norm.shift[i] : 0.0F);
    }
  }
}

void normalise_all(const Norm& norm, float epsilon, std::span<float> rows) {
  if (norm.gain.empty()) return;
  normalise(norm, epsilon, rows.size() / norm.gain.size(), rows.data(), rows.data());
}

void scale_by(double factor, std::span<float> values) {
  if (factor != 1) kernels().scale(values.data(), static_cast<float>(factor), values.size());
}

void apply(const Linear& linear, std::size_t tokens, const float* in, std::vector<float>& out) {
  const Matrix& weight = linear.weight;
  out.resize(tokens * weight.rows);
  if (weight.quantised == Quantisation::none) {
    model_kernels().multiply({weight.number, weight.data, weight.rows, weight.columns}, in, tokens,
                             out.data());
  } else {
    const QuantisedRows rows{weight.quantised, weight.data, weight.scales, weight.rows,
                             weight.columns};
    model_kernels().multiply_quantised(rows, in, tokens, out.data());
  }
  if (linear.bias.empty()) return;
  for (std::size_t t = 0; t < tokens; ++t) {
    kernels().add(out.data() + t * weight.rows, linear.bias.data(), weight.rows);
  }
}

void activate(Activation activation, std::span<float> values) {
  for (float& value : values) {
    value = static_cast<float>(activated(activation, static_cast<double>(value)));
  }
}

void Mlp::run(const LayerWeights& layer,
              Activation activation,
              std::size_t tokens,
              const float* in,
              std::vector<float>& out) {
  apply(layer.up, tokens, in, up_);
  // Families differ here: a plain MLP, or a gated one (SwiGLU), whose gate alone is activated.
  if (layer.gate.weight.data == nullptr) {
    activate(activation, up_);
  } else {
    apply(layer.gate, tokens, in, gate_);
    activate(activation, gate_);
    for (std::size_t i = 0; i < up_.size(); ++i) up_[i] *= gate_[i];
  }
  apply(layer.down, tokens, up_.data(), out);
}

}  // namespace kv::model
