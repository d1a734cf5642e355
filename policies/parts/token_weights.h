// The weights of tokens in a weighted reservoir.
#pragma once

#include <span>
#include <vector>

#include "kvcheck/policies/entry.h"
#include "kvcheck/policies/policy.h"

namespace kv {

enum class Weight {
  attention,   // mean mass from the queries since its arrival, its own included
  value_norm,  // the norm of its value, averaged over the unit's kv-heads
  equal,
};

// Gathers the weights of a unit's tokens, by rank.
class TokenWeights {
 public:
  explicit TokenWeights(Weight weight) : weight_(weight) {}

  [[nodiscard]] Needs needs() const;
  void observe(const Observation& observation);
  void forget(std::span<const std::size_t> ranks);

  // The current weight: positive and finite, as samplers require.
  [[nodiscard]] double at(std::size_t rank) const;

  void save(ByteWriter& writer) const;
  void load(ByteReader& reader);

 private:
  Weight weight_;
  double queries_ = 0;        // observed so far
  std::vector<double> sums_;  // [residents]: mass since arrival, or the norm
  std::vector<double> born_;  // [residents]: queries_ at arrival; only for attention
};

// The parameter `weight`, which every weighted reservoir has, and its value in the options.
std::span<const Parameter> weight_parameters();
Weight weight_of(const Options& options);

}  // namespace kv
