// One unit's rows, queries, keys and values, made from its plan.
//
// The logit of query t and key j, before the scale by 1/sqrt(head_dim), is a product of features:
//
//   dimensions         query                      key
//   0 .. 7             noise, sd * normal / sqrt 8   normal          (these rotate, if any do)
//   8, 9, 10           the offset of each part    1 for its part
//   11                 1                          weight
//   12                 32 * slope                 j / 32 if background
//   13 .. 13 + bits    +-12, a bit of the label   +-1 if planted
//   the rest           0                          0
//
// The offset of a part is the logarithm of the mass that the query gives to it, less the logarithm
// of the sum of the part's weights among the visible keys.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kvcheck/traces/synthetic/plan.h"

namespace kv {

inline constexpr std::size_t noise_dims = 8;
inline constexpr std::size_t first_label_dim = noise_dims + part_count + 2;

class SyntheticRows {
 public:
  SyntheticRows(const SyntheticSpec& spec, std::size_t layer, std::size_t kv_head);

  // The causal row of query t of a query head: probabilities of keys 0..t. Requires t + 1 elements.
  void row(std::size_t head, Position t, std::span<double> out);

  // Requires head_dim elements.
  void query(std::size_t head, Position t, std::span<double> out);
  void key(Position t, std::span<double> out) const;
  void value(Position t, std::span<double> out) const;

 private:
  using Noise = std::array<double, noise_dims>;

  [[nodiscard]] Noise draw_noise(std::size_t head, Position t, Purpose purpose) const;

  // draw_noise() rotated as the replay will rotate it at position t.
  [[nodiscard]] Noise rotated_noise(std::size_t head, Position t, Purpose purpose) const;

  // Fills logits_[0..t] with the weights' logarithms, and returns each part's offset.
  std::array<double, part_count> weigh(std::size_t head, Position t);
  [[nodiscard]] double weight_of(Position t, Position j, const Noise& query_noise) const;

  const SyntheticSpec& spec_;
  std::size_t layer_;
  std::size_t kv_head_;
  UnitPlan plan_;
  std::vector<Noise> key_noise_;  // [tokens], rotated; empty without noise
  std::vector<double> logits_;    // [tokens]
};

}  // namespace kv
