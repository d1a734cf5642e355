// Binding: which tensor of the files is which weight of the model. Private to model/.
#pragma once

#include <string>

#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/model/weights/tensor_files.h"

namespace kv::model {

struct Binder {
  TensorFiles& files;
  LanguageModel& model;

  // As many layers as the configuration says. An error if that is more than a thousand and the
  // files have fewer tensors, so that a wrong count allocates no more than they suggest.
  Result<void> make_layers();

  // `name`.weight and, if asked for, `name`.bias.
  Result<void> linear(
      const std::string& name, std::size_t rows, std::size_t columns, bool bias, Linear& into);
  // A norm of the family's kind over the model's width, or over `size` numbers.
  Result<void> norm(const std::string& name, Norm& into, std::size_t size = 0);

  // A matrix with the model's width as columns.
  Result<void> table(const std::string& name, std::size_t rows, Matrix& into);

  // The embedding, which a tied model may store under the output layer's name alone.
  Result<void> embedding(const std::string& name, const std::string& head_name);

  // The output layer, which is the embedding where tied. Requires the embedding.
  Result<void> head(const std::string& name);

  // Rows [first, first + rows) of a fused matrix and of its bias: a view of the weights.
  static Linear rows_of(const Linear& fused, std::size_t first, std::size_t rows);

  // A layer's matrix owned by the model, and where to write it.
  Matrix copy(const Matrix& like, std::size_t rows, std::size_t columns, std::byte*& bytes);
};

Result<void> bind_llama(Binder& binder);
Result<void> bind_gpt_neox(Binder& binder);
Result<void> bind_gpt2(Binder& binder);
Result<void> bind_gpt_neo(Binder& binder);

}  // namespace kv::model
