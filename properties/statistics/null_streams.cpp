#include "kvcheck/properties/statistics/null_streams.h"

#include <algorithm>

#include "kvcheck/base/random/rng.h"

namespace kv::properties {

Counts null_counts(const Shape& shape,
                   const CountsRequested& requested,
                   std::uint64_t streams,
                   std::uint64_t seed) {
  const Rng rng(seed);
  Counts counts(shape, requested);
  Replicate replicate;
  std::vector<bool> taken(shape.n);
  Position draw = 0;
  for (std::uint64_t r = 0; r < streams; ++r) {
    std::fill(taken.begin(), taken.end(), false);
    // Floyd: draw below last + 1; a token that is taken already is replaced by `last`, which is
    // not.
    for (std::uint32_t last = shape.n - shape.k; last < shape.n; ++last) {
      const auto pick = static_cast<std::size_t>(rng.below(last + 1, draw++));
      taken[taken[pick] ? last : pick] = true;
    }
    replicate.kept.clear();
    for (std::uint32_t i = 0; i < shape.n; ++i) {
      if (taken[i]) replicate.kept.push_back(i);
    }
    counts.add(replicate);
  }
  return counts;
}

double simulated_tail(const Counts& observed,
                      double value,
                      const CountsRequested& requested,
                      const std::function<double(const Counts&)>& statistic) {
  const Shape& shape = observed.shape();
  const std::uint64_t work =
      observed.streams() * shape.k * (requested.pairs ? shape.k : 1) + shape.n;
  // About as much work for every shape.
  const std::uint64_t runs = std::clamp<std::uint64_t>(20000000 / work, 200, 2000);
  std::uint64_t as_large = 1;  // the observed run, which makes p valid at any number of runs
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Counts simulated = null_counts(shape, requested, observed.streams(), 0x6e756c6c + run);
    if (statistic(simulated) >= value) ++as_large;
  }
  return static_cast<double>(as_large) / static_cast<double>(runs + 1);
}

}  // namespace kv::properties
