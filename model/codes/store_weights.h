// Storing a model's weights in another way than its files do.
#pragma once

#include <cstddef>
#include <string>

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

// Where codes are kept, so that the next start need not make them.
struct KeptCodes {
  std::string path;  // of the model, beside which they are kept (kept_codes.h); empty: nowhere
  // Of a model with fewer weights in its layers, codes are made in less than a second.
  std::size_t smallest = std::size_t{1} << 25;
};

// Stores the layers' matrices anew; the model owns the new bytes and frees older copies. int8 and
// nf4 are taken from what was kept, if the model's files are as they were then, and kept otherwise;
// a folder that cannot be written changes nothing else. Errors name the layer and matrix with a
// number that is not finite; the model is then of no more use. Requires a model as it was opened.
// Cost: some 10 ns per weight that codes are made of.
Result<void> store_weights(LanguageModel& model, WeightFormat format, const KeptCodes& kept = {});

}  // namespace kv::model
