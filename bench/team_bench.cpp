// What it costs to divide a step among two threads: Team against a plain loop and, where it is
// installed, oneTBB. A step of a layer takes some microseconds, and a token has a hundred of them.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "kvcheck/base/threads/team.h"

#ifdef KVCHECK_BENCH_TBB
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#endif

namespace {

constexpr std::size_t parts = 2;

// Work of so many multiplications, each of which waits for the one before.
std::uint64_t work(std::uint64_t length) {
  std::uint64_t x = 3;
  for (std::uint64_t i = 0; i < length; ++i) {
    x *= 5;
    benchmark::DoNotOptimize(x);
  }
  return x;
}

void BM_step_alone(benchmark::State& state) {
  const auto length = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    for (std::size_t i = 0; i < parts; ++i) benchmark::DoNotOptimize(work(length));
  }
}

void BM_step_team(benchmark::State& state) {
  const auto length = static_cast<std::uint64_t>(state.range(0));
  kv::Team team(parts);
  for (auto _ : state) {
    team.run(parts, [&](std::size_t, std::size_t) { benchmark::DoNotOptimize(work(length)); });
  }
}

BENCHMARK(BM_step_alone)->Arg(10)->Arg(1000)->Arg(10'000)->UseRealTime();
BENCHMARK(BM_step_team)->Arg(10)->Arg(1000)->Arg(10'000)->UseRealTime();

#ifdef KVCHECK_BENCH_TBB
template <typename Partitioner>
void BM_step_tbb(benchmark::State& state) {
  const auto length = static_cast<std::uint64_t>(state.range(0));
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, parts);
  const Partitioner partitioner;
  for (auto _ : state) {
    tbb::parallel_for(
        std::size_t{0}, parts, [&](std::size_t) { benchmark::DoNotOptimize(work(length)); },
        partitioner);
  }
}

BENCHMARK(BM_step_tbb<tbb::static_partitioner>)->Arg(10)->Arg(1000)->Arg(10'000)->UseRealTime();
BENCHMARK(BM_step_tbb<tbb::simple_partitioner>)->Arg(10)->Arg(1000)->Arg(10'000)->UseRealTime();
#endif

}  // namespace
