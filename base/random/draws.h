// Draws: the only random numbers that a policy may use.
#pragma once

#include <array>
#include <cstdint>

#include "kvcheck/base/position.h"
#include "kvcheck/base/random/rng.h"

namespace kv {

// A policy receives its random numbers through this interface, so that a test can script or
// enumerate them.
//
// `position` is the token on whose behalf the policy draws and `index` counts its draws for that
// token. A policy that passes both truthfully gives the same result for every division of the
// stream into chunks.
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

// The Draws of real runs. Each draw is a function of seed, stream, position and index alone.
//
// Samplers request their first draw (index 0) for one position after another. If a position follows
// the last run, the first draws of the next few positions are computed together and kept until they
// are requested.
class CounterDraws final : public Draws {
 public:
  explicit CounterDraws(Rng rng) : rng_(rng) {}

  std::uint64_t below(std::uint64_t bound, Position position, std::uint32_t index) override {
    if (index != 0) return rng_.below(bound, position, index);
    return rng_.below_from(first_bits(position), bound, position);
  }

  double uniform(Position position, std::uint32_t index) override {
    return open_unit(index == 0 ? first_bits(position) : rng_.bits(position, index));
  }

 private:
  std::uint64_t first_bits(Position position) {
    if (position - run_begin_ >= run_size_) make_run(position);
    return run_[position - run_begin_];
  }

  // Computes the draws from `position` on: run_of_positions of them if it follows the last run,
  // otherwise one.
  void make_run(Position position);

  Rng rng_;
  Position run_begin_ = 0;
  Position run_size_ = 0;
  std::array<std::uint64_t, run_of_positions> run_{};
};

}  // namespace kv
