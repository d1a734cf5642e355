// The oracle's optimum for one unit: time against length and budget, and the memory of the masses.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "kvcheck/base/check.h"
#include "kvcheck/bench/bench_trace.h"
#include "kvcheck/sim/cache/visible_limits.h"
#include "kvcheck/sim/oracle/oracle.h"
#include "kvcheck/sim/replay/dense_rows.h"
#include "kvcheck/sim/spec/spec.h"

namespace {

// The first head of a trace of that length, as a replay passes it to the oracle.
kv::FutureMass masses_of(std::size_t tokens) {
  const kv::Trace trace = kv::bench_attention({.layers = 1, .heads = 1, .tokens = tokens});
  const kv::RopeTable rope(trace.info().rope, 0);
  kv::DenseRows rows(trace, 0, 0, 1, nullptr, rope);
  kv::FutureMass masses(tokens);
  for (std::size_t query = 0; query < tokens; ++query) {
    const auto row = rows.load(static_cast<kv::Position>(query));
    KV_CHECK(row);
    const std::vector<double> mass(row->mass.begin(), row->mass.end());
    masses.set_row(static_cast<kv::Position>(query), mass);
  }
  masses.close();
  return masses;
}

void BM_optimum(benchmark::State& state) {
  const auto tokens = static_cast<std::size_t>(state.range(0));
  const kv::FutureMass masses = masses_of(tokens);
  const auto spec = kv::parse_spec("h2o", {.budget = static_cast<std::uint32_t>(state.range(1))});
  const std::vector<std::uint32_t> limits = kv::visible_limits(*spec, tokens);
  double retained = 0;
  for (auto _ : state) {
    const auto optimum = kv::irrevocable_optimum(masses, limits);
    retained = optimum->bound;
  }
  state.counters["retained mass"] = retained / static_cast<double>(tokens);
  state.counters["MiB of masses"] =
      4.0 * static_cast<double>(tokens) * static_cast<double>(tokens) / (1 << 20);
}

BENCHMARK(BM_optimum)
    ->Name("optimum")
    ->ArgNames({"tokens", "budget"})
    ->Args({512, 128})
    ->Args({1024, 256})
    ->Args({2048, 64})
    ->Args({2048, 512})
    ->Args({2048, 1024})
    ->Unit(benchmark::kMillisecond);

}  // namespace
