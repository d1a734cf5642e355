// Seen rows: what a query attends to when only some residents are visible, and how that differs
// from the dense row. One object serves one thread.
#pragma once

#include <span>
#include <vector>

#include "sim/dense_rows.h"
#include "sim/metrics.h"
#include "sim/spec.h"
#include "sim/top_k.h"
#include "sim/unit_cache.h"

namespace kv {

class SeenRows {
 public:
  explicit SeenRows(std::size_t top_k);

  // The row of `dense`'s query over `visible`, at the spec's positions, held in mass(), and its
  // metrics. Cost: O(visible) for attention rows, O(visible * head_dim) with q/k/v.
  HeadMetrics measure(const DenseRow& dense,
                      const DenseRows& source,
                      const Visible& visible,
                      Positions positions);

  // The row just measured: [visible], by rank, sums to one.
  [[nodiscard]] std::span<const float> mass() const { return {mass_.data(), size_}; }

 private:
  void gather(const float* values, const Visible& visible, float* out) const;
  void renormalise(float retained);
  void in_cache_logits(const DenseRow& dense, const DenseRows& source, const Visible& visible);
  double kl_of_logits(const DenseRow& dense, const Visible& visible);
  double in_cache_overlap(const DenseRow& dense, const Visible& visible);
  double error_of_output(const DenseRow& dense, const KeyValues& held, const Visible& visible);

  TopK top_k_;
  std::size_t size_ = 0;
  std::vector<float> mass_;
  std::vector<float> logits_;
  std::vector<float> scratch_;
  std::vector<float> query_;
  std::vector<float> output_;
  std::vector<Position> positions_;
};

}  // namespace kv
