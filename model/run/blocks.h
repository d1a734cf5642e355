// The parts of a layer that look at one token at a time. Each token's numbers depend on that token
// alone, so a text gives the same bits whatever its chunks.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// in and out [tokens, width]; they may be the same.
void normalise(const Norm& norm, float epsilon, std::size_t tokens, const float* in, float* out);

// In place, every row of the norm's width; nothing happens without a norm.
void normalise_all(const Norm& norm, float epsilon, std::span<float> rows);

// values[i] *= factor, in f32; nothing happens if the factor is 1.
void scale_by(double factor, std::span<float> values);

// out [tokens, rows] = in [tokens, columns] times the weights, plus the bias.
void apply(const Linear& linear, std::size_t tokens, const float* in, std::vector<float>& out);

// values[i] = f(values[i]).
void activate(Activation activation, std::span<float> values);

// The MLP of a layer: out [tokens, width] of in [tokens, width].
class Mlp {
 public:
  void run(const LayerWeights& layer,
           Activation activation,
           std::size_t tokens,
           const float* in,
           std::vector<float>& out);

 private:
  std::vector<float> gate_;
  std::vector<float> up_;
};

}  // namespace kv::model
