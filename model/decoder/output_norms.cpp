#include "kvcheck/model/decoder/output_norms.h"

#include <cmath>

#include "kvcheck/base/kernels/kernels.h"

namespace kv::model {
namespace {

// A row as floats, and what its products are multiplied by: of int8 the codes and their scale.
float widen(const Matrix& matrix, std::size_t index, float* row) {
  if (matrix.quantised != Quantisation::int8) {
    matrix.widen_row(index, row);
    return 1;
  }
  widen_codes({matrix.quantised, matrix.data, matrix.scales, matrix.rows, matrix.columns}, index,
              row);
  return matrix.scales[index];
}

}  // namespace

void output_norms(const LanguageModel& model,
                  std::size_t layer,
                  std::size_t tokens,
                  const float* v,
                  std::vector<float>& norms,
                  Team& team) {
  const ModelConfig& config = model.config;
  const Matrix& output = model.layers[layer].output.weight;
  const std::size_t dim = config.head_dim;
  const std::size_t heads = output.columns / dim;
  const std::size_t of_kv_head = heads / config.kv_heads;
  norms.resize(tokens * heads);
  const auto of_tokens = [&](std::size_t begin, std::size_t end, std::size_t /*worker*/) {
    std::vector<float> row(output.columns);
    std::vector<double> sums((end - begin) * heads, 0);
    for (std::size_t r = 0; r < output.rows; ++r) {
      const float factor = widen(output, r, row.data());
      for (std::size_t t = begin; t < end; ++t) {
        for (std::size_t head = 0; head < heads; ++head) {
          const float* value = v + t * config.kv_width() + head / of_kv_head * dim;
          const double dot = kernels().dot_double(row.data() + head * dim, value, dim);
          sums[(t - begin) * heads + head] += std::abs(static_cast<double>(factor) * dot);
        }
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      norms[begin * heads + i] = static_cast<float>(sums[i]);
    }
  };
  team.run_ranges(tokens, 1, 2 * output.rows * output.columns, of_tokens);
}

}  // namespace kv::model
