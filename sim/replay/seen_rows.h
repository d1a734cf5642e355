// Seen rows: what a query attends to when only some residents are visible, and how that differs
// from the dense row. One object serves one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kvcheck/sim/cache/visible.h"
#include "kvcheck/sim/replay/dense_rows.h"
#include "kvcheck/sim/replay/metrics.h"
#include "kvcheck/sim/replay/top_k.h"
#include "kvcheck/sim/spec/settings.h"

namespace kv {

// What one query of a cell may see, and what is asked of its row.
struct View {
  const Visible* visible = nullptr;
  std::span<const std::uint8_t> gone;  // [tokens]: 1 where the position was evicted
  Positions positions = Positions::absolute;
  bool wants_row = false;  // whether mass() is asked for afterwards
  bool selected = false;   // queries choose: what is not visible need not be gone
};

class SeenRows {
 public:
  explicit SeenRows(std::size_t top_k);

  // The metrics of the row of `dense`'s query over what `view` shows. Cost: O(visible) for
  // attention rows, O(visible * head_dim) with q/k/v.
  HeadMetrics measure(const DenseRow& dense, const DenseRows& source, const View& view);

  // The row just measured, if it was wanted: [visible], by rank, sums to one.
  [[nodiscard]] std::span<const float> mass() const { return {mass_.data(), size_}; }

 private:
  [[nodiscard]] float sum_visible(const DenseRow& dense, const Visible& visible, bool gathered);
  void gather(const float* values, const Visible& visible, float* out) const;
  void renormalise(float retained);
  void compute_row(const DenseRow& dense, const DenseRows& source, const View& view);
  void in_cache_logits(const DenseRow& dense, const DenseRows& source, const Visible& visible);
  double kl_of_moved(const DenseRow& dense, const Visible& visible);
  double overlap_of_row(const DenseRow& dense, const Visible& visible);
  double error_of_output(const DenseRow& dense, const KeyValues& held, const Visible& visible);

  TopK top_k_;
  std::size_t size_ = 0;
  std::vector<float> mass_;
  std::vector<float> logits_;
  double log_sum_ = 0;  // of logits_
  std::vector<float> scratch_;
  std::vector<float> query_;
  std::vector<float> output_;
  std::vector<Position> positions_;
};

}  // namespace kv
