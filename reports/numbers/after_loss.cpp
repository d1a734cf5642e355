#include "kvcheck/reports/numbers/after_loss.h"

#include <algorithm>

#include "kvcheck/sim/replay/cell_state.h"

namespace kv::reports {

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

}  // namespace kv::reports
