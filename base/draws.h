// Draws: the only door through which a policy meets chance.
#pragma once

#include <cstdint>

#include "base/position.h"
#include "base/rng.h"

namespace kv {

// Random numbers handed to a policy, so that a test can script or enumerate them.
//
// `position` is the token on whose behalf the policy draws and `index` counts its draws for that
// token. A policy that names them truthfully gives the same result however the stream is chunked.
class Draws {
 public:
  Draws() = default;
  Draws(const Draws&) = delete;
  Draws& operator=(const Draws&) = delete;
  virtual ~Draws() = default;

  // Uniform on {0, ..., bound - 1}. Requires bound > 0.
  virtual std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) = 0;

  // Uniform on (0, 1).
  virtual double uniform(Position position, std::uint32_t index) = 0;
};

// The Draws of real runs: stateless, keyed by seed and stream.
class CounterDraws final : public Draws {
 public:
  explicit CounterDraws(Rng rng) : rng_(rng) {}

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) override {
    return rng_.below(bound, position, index);
  }

  double uniform(Position position, std::uint32_t index) override {
    return rng_.uniform(position, index);
  }

 private:
  Rng rng_;
};

}  // namespace kv
