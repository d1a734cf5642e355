// The part of a pass that reads weights: rows of hidden states, one for each token, go through the
// layers. Each row's numbers depend on that row alone, so rows of several streams may go together.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/threads/team.h"
#include "kvcheck/model/decoder/blocks.h"
#include "kvcheck/model/weights/language_model.h"

namespace kv::model {

class ForwardPass {
 public:
  // Queries, keys and values of a layer, a row for each token, and what attention makes of them.
  struct Projected {
    std::size_t layer = 0;
    const float* q = nullptr;   // [rows, query heads * head_dim]
    const float* k = nullptr;   // [rows, key/value heads * head_dim]
    const float* v = nullptr;   // the same shape
    float* attended = nullptr;  // [rows, query heads * head_dim], to be filled
  };

  using Attend = std::function<void(const Projected&)>;

  // `model` outlives the pass.
  ForwardPass(const LanguageModel& model, std::shared_ptr<Team> team)
      : model_(&model), team_(std::move(team)) {}

  // Begins a pass over `rows` rows. Returns their hidden states, [rows, width], to be filled.
  std::span<float> begin(std::size_t rows);

  // As the layers so far left them.
  [[nodiscard]] std::span<const float> states() const { return hidden_states_; }

  void run_layer(std::size_t index, const Attend& attend);

  // Queries, keys and values of the layer, as attention takes them: before rotation, but normalised
  // and scaled. They are valid until the next call.
  Projected project(std::size_t index);

  // Logits of `rows` rows from row `first` on: [rows, vocabulary].
  void finish(std::size_t first, std::size_t rows, AlignedFloats& logits);

 private:
  void read(const Norm& norm);
  void add_to_stream(const Norm& after);

  const LanguageModel* model_;
  std::shared_ptr<Team> team_;  // never null
  std::size_t rows_ = 0;
  Mlp mlp_;
  AlignedFloats hidden_states_;  // [rows, width]: the residual stream
  AlignedFloats normed_;
  AlignedFloats q_;
  AlignedFloats k_;
  AlignedFloats v_;
  AlignedFloats attended_;
  AlignedFloats added_;
};

}  // namespace kv::model
