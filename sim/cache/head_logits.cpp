#include "kvcheck/sim/cache/head_logits.h"

#include <algorithm>
#include <cmath>

#include "kvcheck/base/kernels/kernels.h"

namespace kv {

double log_of_sum(double a, double b) {
  const double most = std::max(a, b);
  return most + std::log1p(std::exp(std::min(a, b) - most));
}

HeadLogits::HeadLogits(const TraceInfo& info, std::size_t layer, std::size_t head)
    : scale_(1.0F / std::sqrt(static_cast<float>(info.head_dim))) {
  const LayerRules rules = rules_of(info, layer);
  if (rules.scale > 0) {
    query_factor_ = rules.scale * std::sqrt(static_cast<double>(info.head_dim));
  }
  if (rules.layout != RopeLayout::none) {
    rope_scale_ = rules.rope_scale;
    rotating_ = info.rope.dims;
  }
  cap_ = rules.cap;
  window_ = rules.window;
  if (!rules.slopes.empty()) slope_ = static_cast<double>(rules.slopes[head]);
  if (!rules.sinks.empty()) sink_ = static_cast<double>(rules.sinks[head]);
}

void HeadLogits::scale_rotating(std::span<float> vector, double factor) const {
  if (factor == 1) return;
  kernels().scale(vector.data(), static_cast<float>(factor), rotating_);
}

void HeadLogits::scale_query(std::span<float> query) const {
  const auto factor = static_cast<float>(query_factor_);
  if (factor != 1) kernels().scale(query.data(), factor, query.size());
  scale_rotating(query, rope_scale_ * rope_scale_);
}

void HeadLogits::unscale_rotated(std::span<float> vector) const {
  scale_rotating(vector, 1 / rope_scale_);
}

void HeadLogits::finish(std::span<float> logits, std::size_t distance) const {
  if (cap_ > 0) {
    for (float& logit : logits) {
      logit = static_cast<float>(cap_ * std::tanh(static_cast<double>(logit) / cap_));
    }
  }
  if (slope_ == 0) return;
  auto steps = static_cast<double>(distance);
  for (float& logit : logits) {
    const double biased = static_cast<double>(logit) - slope_ * steps;
    logit = static_cast<float>(std::max(biased, double{hidden_logit}));
    steps -= 1;
  }
}

double HeadLogits::share_of_keys(double log_sum) const {
  return 1 / (1 + std::exp(sink_ - log_sum));
}

double HeadLogits::with_sink(double log_sum) const {
  return has_sink() ? log_of_sum(log_sum, sink_) : log_sum;
}

}  // namespace kv
