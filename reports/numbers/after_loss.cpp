#include "kvcheck/reports/numbers/after_loss.h"

#include <algorithm>
#include <optional>

#include "kvcheck/sim/replay/cell_state.h"

namespace kv::reports {
namespace {

// The target q for which the sum over the streams of min(q, targets) is `before`.
std::optional<std::size_t> target_after(const ClosedLoopResult& text,
                                        const ClosedLoopCell& cell,
                                        std::size_t before) {
  const std::size_t width = text.series_width;
  std::size_t sum = 0;              // targets of earlier points
  std::size_t most = text.streams;  // that may reach this point
  for (std::size_t i = 0; i < cell.series.size(); ++i) {
    const LossPoint& point = cell.series[i];
    if (before < sum + point.targets) {
      // All streams that may reach the point fill it, or as many as go on after it.
      const std::size_t filled = point.targets / width;
      const std::size_t next = i + 1 < cell.series.size() ? cell.series[i + 1].targets : 0;
      const bool go_on = (next + width - 1) / width == filled;
      const bool full = point.targets % width == 0 && (filled == most || go_on);
      const std::size_t streams = most == 1 ? 1 : filled;
      if ((most > 1 && !full) || (before - sum) % streams != 0) return std::nullopt;
      return point.first + (before - sum) / streams;
    }
    sum += point.targets;
    most = std::min(most, point.targets / width);
  }
  return std::nullopt;
}

}  // namespace

AfterLoss::AfterLoss(const Spec& spec, const TraceInfo& trace)
    : tokens_(trace.tokens), loss_{.query = static_cast<Position>(trace.tokens)} {
  // A trace of no layer is the empty one, whose field names exports print.
  if (!trace.layers.empty()) loss_ = first_loss(spec, grid_of(trace), trace.layers, tokens_);
  measured_ = static_cast<double>(tokens_);
  measured_before_ = static_cast<double>(loss_.query);
  if (trace.queries.empty() || samples_queries(trace)) return;
  measured_ = static_cast<double>(trace.queries.size());
  measured_before_ = static_cast<double>(std::ranges::lower_bound(trace.queries, loss_.query) -
                                         trace.queries.begin());
}

double AfterLoss::share(double mean) const {
  // Losses are scaled, not shares, so that a mean of exactly 1 remains exactly 1.
  return 1 - loss(1 - mean);
}

double AfterLoss::loss(double mean) const {
  if (!any() || measured_before_ == measured_) return not_measured;
  return mean * measured_ / (measured_ - measured_before_);
}

HeadMetrics AfterLoss::half_widths(const HeadMetrics& of_all) const {
  return {.retained_mass = loss(of_all.retained_mass),
          .kl_to_dense = loss(of_all.kl_to_dense),
          .topk_overlap = loss(of_all.topk_overlap),
          .output_error = loss(of_all.output_error)};
}

HeadMetrics AfterLoss::of(const HeadMetrics& means) const {
  return {.retained_mass = share(means.retained_mass),
          .kl_to_dense = loss(means.kl_to_dense),
          .topk_overlap = share(means.topk_overlap),
          .output_error = loss(means.output_error)};
}

double AfterLoss::visible(double mean) const {
  const auto queries = static_cast<double>(loss_.query);
  return without(mean, queries * (queries + 1) / 2);  // query i sees i + 1 tokens
}

double AfterLoss::stored(double mean) const {
  return without(mean, loss_.stored_before);
}

double AfterLoss::without(double mean, double sum_before) const {
  if (!any()) return not_measured;
  const auto all = static_cast<double>(tokens_);
  return (mean * all - sum_before) / static_cast<double>(tokens_ - loss_.query);
}

FirstTarget first_target(const ClosedLoopResult& text, const ClosedLoopCell& cell) {
  const std::size_t before = cell.targets() - cell.targets_after;
  if (cell.cell.spec.phases.ratio == 0) {
    if (const auto target = target_after(text, cell, before)) {
      return {.target = static_cast<Position>(*target)};
    }
  }
  const std::size_t streams = std::max<std::size_t>(text.streams, 1);
  return {.target = static_cast<Position>(before / streams), .of_each = false};
}

}  // namespace kv::reports
