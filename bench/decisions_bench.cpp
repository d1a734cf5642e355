// The cost of the decisions alone: a unit's cache is fed token by token, without attention.
#include <benchmark/benchmark.h>

#include <memory>

#include "kvcheck/sim/cache/unit_cache.h"
#include "kvcheck/sim/spec/spec.h"

namespace {

void BM_decisions(benchmark::State& state, const char* text) {
  const kv::Spec spec = *kv::parse_spec(text);
  constexpr int batch = 100000;
  for (auto _ : state) {
    kv::UnitCache cache(spec, std::make_unique<kv::CounterDraws>(kv::Rng(1)));
    for (int t = 0; t < batch; ++t) {
      cache.begin_chunk(1);
      benchmark::DoNotOptimize(cache.next_query().size());
      cache.end_chunk();
      cache.clear_evicted();
    }
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

BENCHMARK_CAPTURE(BM_decisions, streaming_64, "streaming:budget=64");
BENCHMARK_CAPTURE(BM_decisions, streaming_4096, "streaming:budget=4096");
BENCHMARK_CAPTURE(BM_decisions, reservoir_r_64, "reservoir:budget=64");
BENCHMARK_CAPTURE(BM_decisions, reservoir_r_512, "reservoir:budget=512");
BENCHMARK_CAPTURE(BM_decisions, reservoir_l_512, "reservoir:budget=512,algorithm=l");
BENCHMARK_CAPTURE(BM_decisions, reservoir_bottom_k_512, "reservoir:budget=512,algorithm=bottom-k");
BENCHMARK_CAPTURE(BM_decisions, random_512, "random:budget=512");
BENCHMARK_CAPTURE(BM_decisions, reservoir_as_printed_512, "reservoir-as-printed:budget=512");
BENCHMARK_CAPTURE(BM_decisions, lazy_64, "streaming:budget=512;timing=lazy:64");

}  // namespace
