// Small samplers, right and wrong, that draw as a cache would but store nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kvcheck/base/random/draws.h"
#include "kvcheck/properties/sampling/sampler.h"

namespace kv::properties {

// What a sampler answers for the t-th token to enter, t > k: the age-rank of the elder that is
// evicted, or k for the newcomer.
using Decide = std::function<std::uint32_t(Draws& draws, std::uint32_t t, std::uint32_t k)>;

// The kept tokens after n have entered, and the evicted ones.
inline void decide_all(const Shape& shape, const Decide& decide, Draws& draws, Replicate& out) {
  out.kept.resize(shape.k);
  std::iota(out.kept.begin(), out.kept.end(), 0U);
  out.gone.clear();
  for (std::uint32_t t = shape.k + 1; t <= shape.n; ++t) {
    const std::uint32_t gone = decide(draws, t, shape.k);
    out.gone.push_back(gone);
    if (gone >= shape.k) continue;
    out.kept.erase(out.kept.begin() + gone);
    out.kept.push_back(t - 1);
  }
}

class DecidingSampler final : public Sampler {
 public:
  DecidingSampler(const Shape& shape, Decide decide) : shape_(shape), decide_(std::move(decide)) {}

  [[nodiscard]] const Shape& shape() const override { return shape_; }

  Result<void> sample(std::uint64_t seed, Replicate& replicate) override {
    CounterDraws draws{Rng(seed)};
    decide_all(shape_, decide_, draws, replicate);
    return {};
  }

 private:
  Shape shape_;
  Decide decide_;
};

// Algorithm R with a denominator of the caller's: right with t itself.
inline Decide dividing_by(std::function<std::uint32_t(std::uint32_t t, std::uint32_t k)> bound) {
  return [bound = std::move(bound)](Draws& draws, std::uint32_t t, std::uint32_t k) {
    const bool enters = draws.below(bound(t, k), t, 0) < k;
    return enters ? static_cast<std::uint32_t>(draws.below(k, t, 1)) : k;
  };
}

inline Decide algorithm_r() {
  return dividing_by([](std::uint32_t t, std::uint32_t) { return t; });
}

// One of the k + 1 is evicted.
inline Decide any_of_all() {
  return [](Draws& draws, std::uint32_t t, std::uint32_t k) {
    return static_cast<std::uint32_t>(draws.below(k + 1, t, 0));
  };
}

// One of the k elders is evicted.
inline Decide any_elder() {
  return [](Draws& draws, std::uint32_t t, std::uint32_t k) {
    return static_cast<std::uint32_t>(draws.below(k, t, 0));
  };
}

inline Counts counted(const Shape& shape,
                      const Decide& decide,
                      std::uint64_t root,
                      std::uint64_t streams,
                      const CountsRequested& requested = {}) {
  DecidingSampler sampler(shape, decide);
  Counts counts(shape, requested);
  EXPECT_TRUE(collect(sampler, root, 0, streams, counts).has_value());
  return counts;
}

}  // namespace kv::properties
