#include "kvcheck/sim/replay/seen_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {
namespace {

// If the visible keys of a recorded row have less dense mass than this, the row does not show how a
// model would attend to them. Its KL is then that of this share, and policies see an even row.
constexpr float least_mass = 1e-9F;

// The share of the heaviest dense keys that so many are. With --top-k 0 there are none.
double share_of_top(std::size_t count, const DenseRow& dense) {
  if (dense.top.empty()) return not_measured;
  return static_cast<double>(count) / static_cast<double>(dense.top.size());
}

// If everything is visible, all kinds of positions are the dense ones. Returning exact values
// avoids rounding.
HeadMetrics nothing_lost(const DenseRow& dense) {
  return {1, 0, share_of_top(dense.top.size(), dense), dense.output.empty() ? not_measured : 0};
}

// The number of positions of `top` that are not evicted.
std::size_t count_kept(std::span<const Position> top, std::span<const std::uint8_t> gone) {
  std::size_t count = 0;
  for (const Position position : top) count += gone[position] == 0 ? 1U : 0U;
  return count;
}

// The number of positions of `top` that the query selected.
std::size_t count_selected(std::span<const Position> top, const Visible& visible) {
  const auto sees = [&](Position p) { return visible.contains(p); };
  return static_cast<std::size_t>(std::ranges::count_if(top, sees));
}

double distance_ratio(std::span<const float> a, std::span<const float> reference) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double step = static_cast<double>(a[i]) - static_cast<double>(reference[i]);
    difference += step * step;
    norm += static_cast<double>(reference[i]) * static_cast<double>(reference[i]);
  }
  if (difference == 0) return 0;
  return norm > 0 ? std::sqrt(difference / norm) : 1;
}

}  // namespace

SeenRows::SeenRows(std::size_t top_k) : top_k_(top_k) {}

HeadMetrics SeenRows::measure(const DenseRow& dense, const DenseRows& source, const View& view) {
  const Visible& visible = *view.visible;
  size_ = visible.size();
  // Grown by doubling, since a stream's visible sets may grow by one token a query.
  if (mass_.size() < size_) mass_.resize(size_ * 2);
  const bool computed = !dense.logits.empty();
  const bool needs_row = view.wants_row || computed;
  if (needs_row) gather(dense.mass.data(), visible, mass_.data());
  if (size_ == dense.mass.size()) {
    if (needs_row && dense.keys < 1) {
      kernels().scale(mass_.data(), static_cast<float>(dense.keys), size_);
    }
    return nothing_lost(dense);
  }

  const float retained = std::min(sum_visible(dense, visible, needs_row), 1.0F);
  HeadMetrics metrics;
  metrics.retained_mass = static_cast<double>(retained);
  const std::size_t kept =
      view.selected ? count_selected(dense.top, visible) : count_kept(dense.top, view.gone);
  metrics.topk_overlap = share_of_top(kept, dense);
  if (!computed) {
    // What is left of the row, the sink's part included.
    const double left = 1 - dense.keys + dense.keys * static_cast<double>(retained);
    if (needs_row && dense.keys < 1) {
      kernels().scale(mass_.data(), static_cast<float>(dense.keys / left), size_);
    } else if (needs_row) {
      renormalise(retained);
    }
    metrics.kl_to_dense = -std::log(std::max(left, static_cast<double>(least_mass)));
    return metrics;
  }
  const bool moved = are_ranks(view.positions);
  compute_row(dense, source, view);
  metrics.kl_to_dense = std::max(dense.log_sum - log_sum_, 0.0);
  if (moved) metrics.kl_to_dense = kl_of_moved(dense, visible);
  if (moved) metrics.topk_overlap = overlap_of_row(dense, visible);
  metrics.output_error = error_of_output(dense, *source.key_values(), visible);
  return metrics;
}

void SeenRows::carry(const DenseRows& source, const Visible& visible) {
  size_ = visible.size();
  if (mass_.size() < size_) mass_.resize(size_ * 2);
  gather(source.last_mass(), visible, mass_.data());
  renormalise(std::min(kernels().sum(mass_.data(), size_), 1.0F));
}

// The softmax of the visible keys' logits. Unlike renormalising, it is exact even if hardly any
// dense mass is visible.
void SeenRows::compute_row(const DenseRow& dense, const DenseRows& source, const View& view) {
  logits_.resize(std::max(logits_.size(), size_));
  if (are_ranks(view.positions)) {
    in_cache_logits(dense, source, *view.visible);
  } else {
    gather(dense.logits.data(), *view.visible, logits_.data());
  }
  std::copy_n(logits_.data(), size_, mass_.data());
  log_sum_ = kernels().softmax(mass_.data(), size_);
  const HeadLogits& rules = source.head_logits();
  if (!rules.has_sink()) return;
  const double keys = rules.share_of_keys(log_sum_);
  kernels().scale(mass_.data(), static_cast<float>(keys), size_);
  log_sum_ = rules.with_sink(log_sum_);
}

// The three runs are summed separately, whether gathered or not, so that every cell that sees the
// same tokens gets the same sum.
float SeenRows::sum_visible(const DenseRow& dense, const Visible& visible, bool gathered) {
  const Kernels& kernel = kernels();
  const std::size_t sinks = visible.sinks.size();
  const std::size_t middle = visible.middle.size();
  const float* mass = dense.mass.data();
  const float* middle_mass = mass_.data() + sinks;
  if (!gathered) {
    kernel.gather(mass, visible.middle.data(), middle, mass_.data());
    middle_mass = mass_.data();
  }
  return kernel.sum(mass, sinks) + kernel.sum(middle_mass, middle) +
         kernel.sum(mass + visible.recent.first, visible.recent.size());
}

void SeenRows::gather(const float* values, const Visible& visible, float* out) const {
  out = std::copy_n(values, visible.sinks.size(), out);
  kernels().gather(values, visible.middle.data(), visible.middle.size(), out);
  out += visible.middle.size();
  std::copy_n(values + visible.recent.first, visible.recent.size(), out);
}

void SeenRows::renormalise(float retained) {
  if (retained < least_mass) {
    std::fill_n(mass_.data(), size_, 1.0F / static_cast<float>(size_));
  } else {
    kernels().scale(mass_.data(), 1.0F / retained, size_);
  }
}

// A resident at position p with rank r is rotated to r, while the stored dense key is rotated to p.
// Rotating the query to (its rank - (r - p)) instead of its rank has the same effect on the angle
// between them. r - p is constant over runs of residents, so one rotation of the query per run
// replaces a rotation of every key. In the recent run the query is thereby rotated to its own
// position, which gives the dense logits.
void SeenRows::in_cache_logits(const DenseRow& dense,
                               const DenseRows& source,
                               const Visible& visible) {
  const KeyValues& held = *source.key_values();
  const HeadLogits& rules = source.head_logits();
  const std::size_t dim = held.dim();
  query_.resize(dim);
  for_each_run_before_recent(visible, [&](Position first, std::size_t count, std::size_t rank) {
    const std::size_t rotate = size_ - 1 - rank + first;
    source.rotated_query(dense.row, static_cast<Position>(rotate), query_.data());
    kernels().dot_rows(query_.data(), held.keys() + first * dim, count, dim, rules.scale(),
                       logits_.data() + rank);
    rules.finish({logits_.data() + rank, count}, size_ - 1 - rank);
  });
  std::copy_n(dense.logits.data() + visible.recent.first, visible.recent.size(),
              logits_.data() + visible.sinks.size() + visible.middle.size());
  std::fill_n(logits_.data(), rules.hidden(size_), hidden_logit);
}

// KL(q || p) = sum of q (log q - log p). Each log is a logit minus the log sum of its row, so that
// a p too small for a float is harmless. For logits that did not change, only the log sums differ.
double SeenRows::kl_of_moved(const DenseRow& dense, const Visible& visible) {
  scratch_.resize(std::max(scratch_.size(), size_));
  gather(dense.logits.data(), visible, scratch_.data());
  double kl = dense.log_sum - log_sum_;
  // A window shows keys to ranks that it hides from the dense row, where they have no mass at all.
  const double least = dense.log_sum + std::log(static_cast<double>(least_mass));
  for (std::size_t i = 0; i < size_; ++i) {
    const double before = scratch_[i] == hidden_logit ? least : static_cast<double>(scratch_[i]);
    const double moved = static_cast<double>(logits_[i]) - before;
    kl += static_cast<double>(mass_[i]) * moved;
  }
  return std::max(kl, 0.0);
}

double SeenRows::overlap_of_row(const DenseRow& dense, const Visible& visible) {
  const std::span<const Position> ranks = top_k_.find(mass());
  std::size_t shared = 0;
  for (const Position rank : ranks) {
    shared += std::ranges::binary_search(dense.top, visible.position_of(rank)) ? 1U : 0U;
  }
  return share_of_top(shared, dense);
}

double SeenRows::error_of_output(const DenseRow& dense,
                                 const KeyValues& held,
                                 const Visible& visible) {
  // The kernel reads values by position, so values are not copied.
  if (positions_.size() < size_) positions_.resize(2 * size_);
  const auto middle = positions_.begin() + visible.sinks.last;
  std::iota(positions_.begin(), middle, Position{0});
  const auto recent = std::ranges::copy(visible.middle, middle).out;
  std::iota(recent, positions_.begin() + static_cast<std::ptrdiff_t>(size_), visible.recent.first);
  output_.resize(held.dim());
  kernels().weigh_rows_at(mass_.data(), held.values(), positions_.data(), size_, held.dim(),
                          output_.data());
  return distance_ratio(output_, dense.output);
}

}  // namespace kv
