// What one query head makes of q . k: the scale, the soft cap, the window, the bias and the sink of
// a trace's layer (traces/FORMAT.md, "What a replay computes").
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "kvcheck/traces/trace.h"

namespace kv {

// The logit of a key that a window hides: a number, so that sums of weights and logits are finite,
// and so small that its weight is 0.
inline constexpr float hidden_logit = -0x1p120F;

// The logarithm of exp(a) + exp(b).
double log_of_sum(double a, double b);

class HeadLogits {
 public:
  // Of a trace of vectors; `layer` is an index into info.layers.
  HeadLogits(const TraceInfo& info, std::size_t layer, std::size_t head);

  // What q . k is multiplied by: 1 / sqrt(head_dim). Another scale of the layer is in the queries,
  // see scale_query().
  [[nodiscard]] float scale() const { return scale_; }

  // Multiplies a query by what the layer's scale differs from that, and its rotating dimensions by
  // the square of rope_scale. Keys then need neither. It is what a decoder of ours does.
  void scale_query(std::span<float> query) const;

  // Takes rope_scale out of a recorded query or key that was rotated.
  void unscale_rotated(std::span<float> vector) const;

  // How many of the first of n keys, up to the query's own, a window hides.
  [[nodiscard]] std::size_t hidden(std::size_t n) const {
    return window_ > 0 && n > window_ ? n - window_ : 0;
  }

  // Caps the scaled products of consecutive keys and adds their bias. `distance` is that of the
  // first key from the query; the others are nearer by one each.
  void finish(std::span<float> logits, std::size_t distance) const;

  [[nodiscard]] bool has_sink() const { return sink_ > -std::numeric_limits<double>::infinity(); }

  // The share of a row's weights that its keys have beside the sink, where log_sum is that of the
  // keys' logits: 1 without a sink.
  [[nodiscard]] double share_of_keys(double log_sum) const;

  // log_sum with the sink.
  [[nodiscard]] double with_sink(double log_sum) const;

 private:
  void scale_rotating(std::span<float> vector, double factor) const;

  float scale_ = 1;
  double query_factor_ = 1;  // of whole queries
  double rope_scale_ = 1;
  std::size_t rotating_ = 0;  // dimensions
  double cap_ = 0;
  std::size_t window_ = 0;
  double slope_ = 0;
  double sink_ = -std::numeric_limits<double>::infinity();
};

}  // namespace kv
