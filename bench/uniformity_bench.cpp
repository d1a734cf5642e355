// Decisions per second in `kvcheck uniformity`: whole streams with their counts, on one thread.
#include <benchmark/benchmark.h>

#include "kvcheck/properties/sampling/spec_sampler.h"
#include "kvcheck/sim/spec/spec.h"

namespace {

void BM_uniformity(benchmark::State& state, const char* text, std::uint32_t tokens) {
  kv::properties::SpecSampler sampler(*kv::parse_spec(text), tokens);
  const kv::properties::Shape shape = sampler.shape();
  kv::properties::Counts counts(shape, {});
  kv::properties::Replicate replicate;
  std::uint64_t stream = 0;
  for (auto _ : state) {
    if (!sampler.sample(kv::properties::stream_seed(1, stream++), replicate))
      state.SkipWithError("failed");
    counts.add(replicate);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(shape.n - shape.k));
}

BENCHMARK_CAPTURE(BM_uniformity, reservoir_r_16_of_4, "reservoir:sinks=1,recent=2,budget=7", 19U);
BENCHMARK_CAPTURE(BM_uniformity, reservoir_r_64, "reservoir:budget=64", 4096U);
BENCHMARK_CAPTURE(BM_uniformity, reservoir_r_64_chunk_16, "reservoir:budget=64;chunk=16", 4096U);
BENCHMARK_CAPTURE(BM_uniformity, reservoir_l_64, "reservoir:budget=64,algorithm=l", 4096U);
BENCHMARK_CAPTURE(BM_uniformity, random_64, "random:budget=64", 4096U);

}  // namespace
