// The parts of a layer that look at one token at a time. Each token's numbers depend on that token
// alone, so a text gives the same bits whatever its chunks. A team divides tokens, rows of weights
// or numbers among its threads; no sum is divided, so that the bits do not depend on it either.
#pragma once

#include <span>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// in and out [tokens, width]; they may be the same.
void normalise(
    const Norm& norm, float epsilon, std::size_t tokens, const float* in, float* out, Team& team);

// In place, every row of the norm's width; nothing happens without a norm.
void normalise_all(const Norm& norm, float epsilon, std::span<float> rows, Team& team);

// values[i] *= factor, in f32; nothing happens if the factor is 1.
void scale_by(double factor, std::span<float> values);

// out [tokens, rows] = in [tokens, columns] times the weights.
void multiply(const Matrix& weight, std::size_t tokens, const float* in, float* out, Team& team);

// The same plus the bias.
void apply(
    const Linear& linear, std::size_t tokens, const float* in, AlignedFloats& out, Team& team);

// values[i] = f(values[i]), and times by[i] if `by` has numbers. f of a NaN is a NaN.
void activate(Activation activation,
              std::span<float> values,
              std::span<const float> by,
              Team& team);

// The MLP of a layer: out [tokens, width] of in [tokens, width].
class Mlp {
 public:
  void run(const LayerWeights& layer,
           Activation activation,
           std::size_t tokens,
           const float* in,
           AlignedFloats& out,
           Team& team);

 private:
  AlignedFloats gate_;
  AlignedFloats up_;
};

}  // namespace kv::model
