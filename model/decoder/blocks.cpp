#include "kvcheck/model/decoder/blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {
namespace {

// What 1 / (1 + exp(-z)) scales x by, for activations of that form.
double argument_of_sigmoid(Activation activation, double x) {
  if (activation == Activation::silu) return x;
  // GELU by tanh: (1 + tanh(u)) / 2 is the sigmoid of 2 u.
  return 2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

// In double, so that the rounding is that of the result. By the exponential of -|z|, which never
// overflows.
void scale_by_sigmoids(Activation activation, std::span<float> values) {
  constexpr std::size_t at_once = 256;
  std::array<double, at_once> z{};
  std::array<double, at_once> power{};
  for (std::size_t begin = 0; begin < values.size(); begin += at_once) {
    const auto some = values.subspan(begin, std::min(at_once, values.size() - begin));
    for (std::size_t i = 0; i < some.size(); ++i) {
      z[i] = argument_of_sigmoid(activation, static_cast<double>(some[i]));
      // The kernel takes no NaN; the product below leaves it one.
      power[i] = std::isnan(z[i]) ? 0 : -std::fabs(z[i]);
    }
    kernels().exp_each(power.data(), some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const double share = (z[i] < 0 ? power[i] : 1.0) / (1 + power[i]);
      some[i] = static_cast<float>(static_cast<double>(some[i]) * share);
    }
  }
}

void activate_range(Activation activation, std::span<float> values) {
  switch (activation) {
    case Activation::silu:
    case Activation::gelu_tanh:
      return scale_by_sigmoids(activation, values);
    case Activation::gelu:
      for (float& value : values) {
        const auto x = static_cast<double>(value);
        value = static_cast<float>(0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)));
      }
      return;
    case Activation::relu:
      // A NaN is neither, and is kept: a 0 would hide that something overflowed before.
      for (float& value : values) value = value <= 0 ? 0 : value;
      return;
  }
}

void normalise_tokens(
    const Norm& norm, float epsilon, std::size_t tokens, const float* in, float* out) {
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

// Rows `begin` to `end` of the weights.
void multiply_rows(const Matrix& weight,
                   std::size_t begin,
                   std::size_t end,
                   std::size_t tokens,
                   const float* in,
                   float* out) {
  const std::size_t columns = weight.columns;
  const std::size_t count = end - begin;
  if (weight.quantised == Quantisation::none) {
    const WeightRows rows{weight.number, weight.row(begin), count, columns};
    return model_kernels().multiply(rows, in, tokens, weight.rows, out + begin);
  }
  const std::size_t scales = scales_of_row(weight.quantised, columns);
  const QuantisedRows rows{weight.quantised, weight.row(begin),
                           scales == 0 ? nullptr : weight.scales + begin * scales, count, columns};
  model_kernels().multiply_quantised(rows, in, tokens, weight.rows, out + begin);
}

}  // namespace

void normalise(
    const Norm& norm, float epsilon, std::size_t tokens, const float* in, float* out, Team& team) {
  const std::size_t width = norm.gain.size();
  constexpr std::size_t a_number = 8;  // double sums in order cost several times a kernel's
  team.run_ranges(
      tokens, 1, a_number * width, [&](std::size_t begin, std::size_t end, std::size_t /*worker*/) {
        normalise_tokens(norm, epsilon, end - begin, in + begin * width, out + begin * width);
      });
}

void normalise_all(const Norm& norm, float epsilon, std::span<float> rows, Team& team) {
  if (norm.gain.empty()) return;
  normalise(norm, epsilon, rows.size() / norm.gain.size(), rows.data(), rows.data(), team);
}

void scale_by(double factor, std::span<float> values) {
  if (factor != 1) kernels().scale(values.data(), static_cast<float>(factor), values.size());
}

void multiply(const Matrix& weight, std::size_t tokens, const float* in, float* out, Team& team) {
  // Rows are multiplied by four, with several tokens by up to six. Multiples of sixteen are whole
  // cache lines of the outputs, which two threads would otherwise write in turn.
  const std::size_t grain = tokens == 1 ? 16 : 48;
  team.run_ranges(weight.rows, grain, tokens * weight.columns,
                  [&](std::size_t begin, std::size_t end, std::size_t /*worker*/) {
                    multiply_rows(weight, begin, end, tokens, in, out);
                  });
}

void apply(
    const Linear& linear, std::size_t tokens, const float* in, AlignedFloats& out, Team& team) {
  const std::size_t rows = linear.weight.rows;
  out.resize(tokens * rows);
  multiply(linear.weight, tokens, in, out.data(), team);
  if (linear.bias.empty()) return;
  for (std::size_t t = 0; t < tokens; ++t) {
    kernels().add(out.data() + t * rows, linear.bias.data(), rows);
  }
}

void activate(Activation activation,
              std::span<float> values,
              std::span<const float> by,
              Team& team) {
  constexpr std::size_t a_number = 16;  // an exponential in double
  team.run_ranges(values.size(), 16, a_number,
                  [&](std::size_t begin, std::size_t end, std::size_t /*worker*/) {
                    activate_range(activation, values.subspan(begin, end - begin));
                    for (std::size_t i = begin; i < end && !by.empty(); ++i) values[i] *= by[i];
                  });
}

void Mlp::run(const LayerWeights& layer,
              Activation activation,
              std::size_t tokens,
              const float* in,
              AlignedFloats& out,
              Team& team) {
  apply(layer.up, tokens, in, up_, team);
  // Families differ here: a plain MLP, or a gated one (SwiGLU), whose gate alone is activated.
  const bool gated = layer.gate.weight.data != nullptr;
  if (gated) {
    apply(layer.gate, tokens, in, gate_, team);
    activate(activation, gate_, up_, team);
  } else {
    activate(activation, up_, {}, team);
  }
  apply(layer.down, tokens, gated ? gate_.data() : up_.data(), out, team);
}

}  // namespace kv::model
