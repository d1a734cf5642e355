// Streams of a spec, run by one unit's cache directly: the fast source.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kvcheck/properties/sampling/sampler.h"
#include "kvcheck/sim/cache/unit_cache.h"

namespace kv {
struct Spec;
}  // namespace kv

namespace kv::properties {

// How many tokens enter the middle of `spec` in a stream of `tokens`; an error, in the words of the
// command line, if none is ever evicted or there is no middle.
Result<Shape> shape_of(const Spec& spec, std::uint32_t tokens);

// The fewest tokens after which n have entered the middle of `spec`.
Result<std::uint32_t> tokens_for(const Spec& spec, std::uint32_t n);

class SpecSampler final : public Sampler {
 public:
  // Requires shape_of() to have succeeded.
  SpecSampler(const Spec& spec, std::uint32_t tokens);

  [[nodiscard]] const Shape& shape() const override { return shape_; }

  Result<void> sample(std::uint64_t seed, Replicate& replicate) override;

  // The kept tokens of one stream whose draws are the caller's; fewer than k if the cache keeps
  // fewer.
  std::vector<std::uint32_t> kept_with(Draws& draws);

 private:
  void run(UnitCache& cache, Replicate& replicate);
  void feed(UnitCache& cache, std::uint32_t chunk, Replicate& replicate);
  void note_decisions(UnitCache& cache, Replicate& replicate);

  std::shared_ptr<const Spec> spec_;
  std::uint32_t tokens_;
  Shape shape_;
  bool in_bulk_;
  bool reported_ = true;
  std::vector<float> mass_;
};

}  // namespace kv::properties
