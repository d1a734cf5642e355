// Kernels against the scalar ones, at the sizes that a replay uses. Agreement is checked once
// before each loop; tests/base/kernels_test.cpp does so at every length.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/check.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/random/rng.h"

namespace {

std::vector<float> some_floats(std::size_t n) {
  std::vector<float> out;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back(static_cast<float>(kv::Rng(3).normal(static_cast<kv::Position>(i))));
  }
  return out;
}

void BM_softmax(benchmark::State& state, const kv::Kernels* kernel) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const std::vector<float> logits = some_floats(n);
  std::vector<float> out = logits;
  std::vector<float> expected = logits;
  kernel->softmax(out.data(), n);
  kv::supported_kernels().back()->softmax(expected.data(), n);
  KV_CHECK(out == expected);
  for (auto _ : state) {
    std::memcpy(out.data(), logits.data(), n * sizeof(float));
    kernel->softmax(out.data(), n);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_dot_rows(benchmark::State& state, const kv::Kernels* kernel) {
  const auto n = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t dim = 64;
  // A cache line begins each row, as in a replay.
  const std::vector<float> numbers = some_floats(n * dim);
  const kv::AlignedFloats rows(numbers.begin(), numbers.end());
  const std::vector<float> query = some_floats(dim);
  std::vector<float> out(n);
  std::vector<float> expected(n);
  kernel->dot_rows(query.data(), rows.data(), n, dim, 0.125F, out.data());
  kv::supported_kernels().back()->dot_rows(query.data(), rows.data(), n, dim, 0.125F,
                                           expected.data());
  KV_CHECK(out == expected);
  for (auto _ : state) {
    kernel->dot_rows(query.data(), rows.data(), n, dim, 0.125F, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4 * static_cast<int>(dim));
}

const bool registered = [] {
  for (const kv::Kernels* kernel : kv::supported_kernels()) {
    const std::string name(kernel->name);
    benchmark::RegisterBenchmark(("softmax/" + name).c_str(), BM_softmax, kernel)->Arg(512);
    benchmark::RegisterBenchmark(("dot_rows/" + name).c_str(), BM_dot_rows, kernel)->Arg(512);
  }
  return true;
}();

}  // namespace
