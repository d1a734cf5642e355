// Seen rows: the attention of a query over its visible set, and how it differs from the dense row.
// Not thread-safe.
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

// The visible set of one query of a cell, and which parts of its row are needed.
struct View {
  const Visible* visible = nullptr;
  std::span<const std::uint8_t> gone;  // [tokens]: 1 where the position was evicted
  Positions positions = Positions::absolute;
  bool wants_row = false;  // whether mass() is called afterwards
  bool selected = false;   // queries select tokens: what is not visible may still be stored
};

class SeenRows {
 public:
  explicit SeenRows(std::size_t top_k);

  // The metrics of the row of `dense`'s query over the visible set of `view`. Cost: O(visible) for
  // attention rows, O(visible * head_dim) with q/k/v.
  HeadMetrics measure(const DenseRow& dense, const DenseRows& source, const View& view);

  // In place of a row that was not recorded: what `source` loaded last, over the visible set.
  // Tokens that came after it have none of it; if hardly any of it is visible, or none was loaded,
  // the row is even. Cost: O(visible).
  void carry(const DenseRows& source, const Visible& visible);

  // The row measured last, or carried: [visible], by rank; sums to one, or to less beside a learned
  // sink. Requires that its view needed the row.
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
