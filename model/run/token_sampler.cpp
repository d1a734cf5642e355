#include "kvcheck/model/run/token_sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kv::model {

TokenId TokenSampler::draw(std::span<const float> logits, Position position) {
  const auto best = std::ranges::max_element(logits);
  if (options_.temperature <= 0) return static_cast<TokenId>(best - logits.begin());
  weights_.resize(logits.size());
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double below = static_cast<double>(logits[i]) - static_cast<double>(*best);
    weights_[i] = std::exp(below / options_.temperature);
    total += weights_[i];
  }
  order_.resize(logits.size());
  std::iota(order_.begin(), order_.end(), TokenId{0});
  std::size_t kept = order_.size();
  if (options_.top_p < 1) {
    // Top-p keeps the fewest tokens whose share reaches p. The sort is stable, so that among equal
    // weights the lower number wins on every machine.
    std::ranges::stable_sort(order_, [&](TokenId a, TokenId b) {
      return weights_[static_cast<std::size_t>(a)] > weights_[static_cast<std::size_t>(b)];
    });
    double sum = 0;
    for (kept = 0; kept < order_.size() && sum < options_.top_p * total; ++kept) {
      sum += weights_[static_cast<std::size_t>(order_[kept])];
    }
    total = sum;
  }
  double left = rng_.uniform(position) * total;
  for (std::size_t i = 0; i + 1 < kept; ++i) {
    left -= weights_[static_cast<std::size_t>(order_[i])];
    if (left < 0) return order_[i];
  }
  // Rounding may leave a little after the last one.
  return order_[kept - 1];
}

}  // namespace kv::model
