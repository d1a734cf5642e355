// One head in double precision, computed from the definitions: each key is rotated to its requested
// position, without runs of residents and without kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kvcheck/sim/replay/metrics.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {

class PlainHead {
 public:
  PlainHead(const Trace& trace, std::size_t layer, std::size_t head)
      : info_(trace.info()), layer_(trace.layer(layer)), head_(head) {
    kv_head_ = kv_head_of(info_, head);
  }

  [[nodiscard]] std::vector<double> vector(const TensorView& tensor,
                                           std::size_t head,
                                           std::size_t token) const {
    std::vector<double> out;
    for (std::size_t j = 0; j < info_.head_dim; ++j) {
      out.push_back(number_at(tensor, (head * info_.tokens + token) * info_.head_dim + j));
    }
    return out;
  }

  [[nodiscard]] std::vector<double> rotated(std::vector<double> x, double position) const {
    const std::size_t pairs = info_.rope.dims / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      const double angle = position * std::pow(info_.rope.theta, -static_cast<double>(i) /
                                                                     static_cast<double>(pairs));
      const bool half = info_.rope.layout == RopeLayout::half;
      double& a = x[half ? i : 2 * i];
      double& b = x[half ? i + pairs : 2 * i + 1];
      const double rotated_a = a * std::cos(angle) - b * std::sin(angle);
      b = a * std::sin(angle) + b * std::cos(angle);
      a = rotated_a;
    }
    return x;
  }

  // The probabilities of `query` over the tokens `keys`, which are at the positions `places`. The
  // query is at the last of these.
  [[nodiscard]] std::vector<double> row(std::size_t query,
                                        const std::vector<std::size_t>& keys,
                                        const std::vector<double>& places) const {
    const std::vector<double> q = rotated(vector(layer_.q, head_, query), places.back());
    std::vector<double> weights;
    double sum = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::vector<double> k = rotated(vector(layer_.k, kv_head_, keys[i]), places[i]);
      double dot = 0;
      for (std::size_t j = 0; j < q.size(); ++j) dot += q[j] * k[j];
      weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(info_.head_dim))));
      sum += weights.back();
    }
    for (double& weight : weights) weight /= sum;
    return weights;
  }

  [[nodiscard]] std::vector<double> output(const std::vector<double>& row,
                                           const std::vector<std::size_t>& keys) const {
    std::vector<double> out(info_.head_dim);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::vector<double> v = vector(layer_.v, kv_head_, keys[i]);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += row[i] * v[j];
    }
    return out;
  }

 private:
  const TraceInfo& info_;
  const Trace::Layer& layer_;
  std::size_t head_;
  std::size_t kv_head_;
};

inline std::vector<std::size_t> sinks_and_recent(std::size_t query,
                                                 std::size_t sinks,
                                                 std::size_t recent) {
  std::vector<std::size_t> keys;
  for (std::size_t key = 0; key <= query; ++key) {
    // Attend, then trim: the query still sees `recent` tokens before itself.
    if (key < sinks || key + recent >= query) keys.push_back(key);
  }
  return keys;
}

inline std::vector<std::size_t> largest(const std::vector<double>& row,
                                        const std::vector<std::size_t>& keys,
                                        std::size_t k) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < std::min(k, order.size()); ++i) out.push_back(keys[order[i]]);
  std::ranges::sort(out);
  return out;
}

inline HeadMetrics plain_streaming(const PlainHead& head,
                                   std::size_t tokens,
                                   std::size_t sinks,
                                   std::size_t recent,
                                   bool in_cache) {
  HeadMetrics sum;
  sum.output_error = 0;
  for (std::size_t query = 0; query < tokens; ++query) {
    std::vector<std::size_t> all;
    std::vector<double> everywhere;
    for (std::size_t key = 0; key <= query; ++key) {
      all.push_back(key);
      everywhere.push_back(static_cast<double>(key));
    }
    const std::vector<std::size_t> keys = sinks_and_recent(query, sinks, recent);
    std::vector<double> places;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      places.push_back(static_cast<double>(in_cache ? i : keys[i]));
    }
    const std::vector<double> dense = head.row(query, all, everywhere);
    const std::vector<double> seen = head.row(query, keys, places);
    double kl = 0;
    double mass = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      mass += dense[keys[i]];
      kl += seen[i] * std::log(seen[i] / dense[keys[i]]);
    }
    std::vector<std::size_t> shared;
    const auto top_dense = largest(dense, all, 5);
    std::ranges::set_intersection(top_dense, largest(seen, keys, 5), std::back_inserter(shared));
    const std::vector<double> full = head.output(dense, all);
    const std::vector<double> part = head.output(seen, keys);
    double difference = 0;
    double norm = 0;
    for (std::size_t j = 0; j < full.size(); ++j) {
      difference += (part[j] - full[j]) * (part[j] - full[j]);
      norm += full[j] * full[j];
    }
    sum.retained_mass += mass;
    sum.kl_to_dense += kl;
    sum.topk_overlap += static_cast<double>(shared.size()) / static_cast<double>(top_dense.size());
    sum.output_error += std::sqrt(difference / norm);
  }
  const auto n = static_cast<double>(tokens);
  return {sum.retained_mass / n, sum.kl_to_dense / n, sum.topk_overlap / n, sum.output_error / n};
}

}  // namespace kv
