// Statistics of a trace's attention without evictions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/sim/replay/dense_rows.h"
#include "kvcheck/sim/replay/metrics.h"

namespace kv {

// Gathers the DenseFacts of one query head, row by row.
class DenseFactsSums {
 public:
  // `queries` is how many the trace records. Entropy is computed for about 32 of them, evenly
  // spaced, because it takes a logarithm per key.
  explicit DenseFactsSums(std::size_t queries);

  // A row that stands for `weight` queries.
  void add(const DenseRow& row, double weight);

  [[nodiscard]] DenseFacts mean(std::size_t layer, std::size_t head) const;

 private:
  double entropy_of(std::span<const float> mass);

  std::size_t entropy_stride_;
  double first_ = 0;
  double sinks_ = 0;
  double recent_ = 0;
  double entropy_ = 0;
  double rows_ = 0;
  double entropy_rows_ = 0;
  std::vector<double> logs_;
};

// The head above layer 0 with the most mass on position 0; any head if only layer 0 was recorded.
const DenseFacts& most_sink(std::span<const DenseFacts> facts);

// The map of one head, with at most `side` blocks per axis. `rows` are those of the head. NaN
// stands for blocks without a recorded query.
Result<AttentionMap> attention_map(DenseRows& rows, const TraceInfo& info, std::size_t side);

}  // namespace kv
