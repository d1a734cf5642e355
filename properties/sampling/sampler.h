// Samplers: where streams come from. One replicate after another, each from a seed of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kvcheck/base/error.h"
#include "kvcheck/properties/statistics/counts.h"

namespace kv::properties {

class Sampler {
 public:
  Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  virtual ~Sampler() = default;

  [[nodiscard]] virtual const Shape& shape() const = 0;

  // Runs one stream. An error if it cannot be counted: the subject failed, refused, or does not
  // keep k tokens.
  virtual Result<void> sample(std::uint64_t seed, Replicate& replicate) = 0;
};

// The seed of stream r: a block of Philox keyed by the root, so that streams share nothing that
// neighbouring integers might.
std::uint64_t stream_seed(std::uint64_t root, std::uint64_t r);

// The root of one test's streams: another for each name and each stage.
std::uint64_t test_root(std::uint64_t seed, std::string_view name, std::uint32_t stage);

// Adds the streams first, ..., first + count - 1 of `root`.
Result<void> collect(
    Sampler& sampler, std::uint64_t root, std::uint64_t first, std::uint64_t count, Counts& counts);

// Makes a sampler for each thread.
using MakeSampler = std::function<std::unique_ptr<Sampler>()>;

// The streams 0, ..., count - 1, shared out to `threads` threads (at least 1); the counts do not
// depend on how many. `more` is asked now and then, from any thread but never from two at once,
// with the streams done so far; false stops early, which is an error.
Result<Counts> collect_threads(const MakeSampler& make,
                               const CountsRequested& requested,
                               std::uint64_t root,
                               std::uint64_t count,
                               std::uint32_t threads,
                               const std::function<bool(std::uint64_t done)>& more = {});

}  // namespace kv::properties
