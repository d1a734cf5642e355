// Storing a model's weights in another way than its files do.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

// What becomes of the matrices of the layers (of queries, keys, values and outputs, and those of
// the MLP). Embeddings, learned positions, the output layer, biases and norms are not changed.
enum class WeightFormat {
  as_is,
  f32,   // widened exactly: the same results, at another speed
  int8,  // model/kernels/quantised.h says how these two are made
  nf4,
};

// Stores the layers' matrices anew; the model owns the new bytes and frees older copies.
// Errors name the layer and matrix with a number that is not finite; the model is then of no more
// use. Requires a model as it was opened. Cost: a few nanoseconds per weight.
Result<void> store_weights(LanguageModel& model, WeightFormat format);

}  // namespace kv::model
