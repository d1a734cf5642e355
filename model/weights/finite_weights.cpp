#include "kvcheck/model/weights/finite_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kvcheck/base/text/describe.h"

namespace kv::model {
namespace {

std::size_t first_wrong(std::span<const float> numbers) {
  const auto at = std::ranges::find_if(numbers, [](float one) { return !std::isfinite(one); });
  return static_cast<std::size_t>(at - numbers.begin());
}

// Looks for the first one, place by place.
class Search {
 public:
  explicit Search(const LanguageModel& model) : model_(model) {}

  [[nodiscard]] const std::optional<std::string>& found() const { return found_; }

  void in(const Matrix& matrix, const std::string& place) {
    if (found_ || matrix.data == nullptr) return;
    // The codes of int8 are whole numbers, so only what they are multiplied by can be wrong.
    const bool scaled = matrix.quantised == Quantisation::int8;
    const std::size_t columns =
        scaled ? scales_of_row(matrix.quantised, matrix.columns) : matrix.columns;
    std::vector<float> row(columns);
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      if (scaled) {
        std::copy_n(matrix.scales + r * columns, columns, row.data());
      } else {
        matrix.widen_row(r, row.data());
      }
      const std::size_t at = first_wrong(row);
      if (at == columns) continue;
      const std::string what = scaled ? ", scale " : ", column ";
      return keep(matrix.row(r), place, "row " + std::to_string(r) + what + std::to_string(at),
                  row[at]);
    }
  }

  void in(const std::vector<float>& numbers, const std::string& place) {
    const std::size_t at = first_wrong(numbers);
    if (found_ || at == numbers.size()) return;
    keep(nullptr, place, "number " + std::to_string(at), numbers[at]);
  }

  void in(const Norm& norm, const std::string& place) {
    in(norm.gain, "the gain of the norm " + place);
    in(norm.shift, "the shift of the norm " + place);
  }

 private:
  void keep(const std::byte* data, const std::string& place, const std::string& at, float value) {
    // What was copied when the model was opened is in none of the files, or in the only one.
    const char* mapped = data == nullptr ? nullptr : mapped_path_at(data);
    if (mapped == nullptr && model_.files.size() == 1) {
      mapped = mapped_path_at(model_.files.front()->bytes().data());
    }
    found_ = (mapped == nullptr ? std::string("the model") : shown(mapped)) + " has " +
             std::to_string(value) + " in " + place + ", " + at;
  }

  const LanguageModel& model_;
  std::optional<std::string> found_;
};

}  // namespace

std::optional<std::string> weight_not_finite(const LanguageModel& model) {
  using NormOf = std::pair<Norm LayerWeights::*, const char*>;
  constexpr std::array<NormOf, 6> norms = {{
      {&LayerWeights::before_attention, "before attention"},
      {&LayerWeights::before_mlp, "before the MLP"},
      {&LayerWeights::of_queries, "of queries"},
      {&LayerWeights::of_keys, "of keys"},
      {&LayerWeights::after_attention, "after attention"},
      {&LayerWeights::after_mlp, "after the MLP"},
  }};
  Search search(model);
  search.in(model.embedding, "the embeddings");
  search.in(model.positions, "the learned positions");
  for (std::size_t i = 0; i < model.layers.size() && !search.found(); ++i) {
    const std::string of = " of layer " + std::to_string(i);
    for (const auto& [member, name] : layer_matrices) {
      const Linear& linear = model.layers[i].*member;
      search.in(linear.weight, "the " + std::string(name) + " matrix" + of);
      search.in(linear.bias, "the " + std::string(name) + " bias" + of);
    }
    for (const auto& [member, name] : norms) {
      search.in(model.layers[i].*member, std::string(name) + of);
    }
  }
  search.in(model.last, "before the output layer");
  search.in(model.head, "the output layer");
  return search.found();
}

Error computed_not_finite(const LanguageModel& model, const std::string& what) {
  if (const auto weight = weight_not_finite(model)) {
    return malformed(*weight + "; expected finite weights, and " + what);
  }
  return malformed(what + ", though all its weights are; expected numbers that no f32 overflows");
}

}  // namespace kv::model
