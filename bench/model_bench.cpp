// The rate at which memory is read, and the product of one token or several with a matrix whose
// weights are not in the caches.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "kvcheck/bench/readers.h"
#include "kvcheck/model/kernels/model_kernels.h"

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// The rate at which so many MiB are read, which bounds products of one token. The caches hold a
// part of what is small. Each of several threads reads its own part.
void BM_read(benchmark::State& state) {
  const auto all = static_cast<std::size_t>(state.range(0)) * mebibyte;
  const std::size_t part = all / static_cast<std::size_t>(state.threads());
  const std::vector<std::byte> memory(part, std::byte{1});
  kv::fastest_streams();  // which would otherwise be measured in the first iteration
  for (auto _ : state) {
    bool any = kv::read_fastest(memory.data(), memory.size());
    benchmark::DoNotOptimize(any);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(part) * state.iterations());
}

const std::vector<std::int64_t> read_sizes = {64,  72,  80,  88,  96,  104, 112, 120, 128,
                                              160, 192, 208, 256, 320, 384, 416, 512};
BENCHMARK(BM_read)->ArgsProduct({read_sizes})->UseRealTime();
BENCHMARK(BM_read)->ArgsProduct({{192, 208, 384, 416}})->Threads(2)->UseRealTime();

// The product of one token or a chunk with a matrix of 768 x 3072 whose weights are not in the
// caches.
void BM_product(benchmark::State& state, kv::Number number) {
  constexpr std::size_t rows = 3072;
  constexpr std::size_t columns = 768;
  const auto tokens = static_cast<std::size_t>(state.range(0));
  const std::size_t bytes = rows * columns * (number == kv::Number::f32 ? 4 : 2);
  const std::size_t copies = (std::size_t{512} << 20) / bytes;
  const std::vector<std::byte> weights(bytes * copies);
  const std::vector<float> x(tokens * columns, 0.5F);
  std::vector<float> out(tokens * rows);
  std::size_t copy = 0;
  for (auto _ : state) {
    kv::model::model_kernels().multiply({number, weights.data() + copy * bytes, rows, columns},
                                        x.data(), tokens, rows, out.data());
    benchmark::DoNotOptimize(out.data());
    copy = (copy + 1) % copies;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.counters["gflops"] = benchmark::Counter(2e-9 * rows * columns * static_cast<double>(tokens),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(BM_product, f32, kv::Number::f32)->Arg(1)->Arg(64);
BENCHMARK_CAPTURE(BM_product, f16, kv::Number::f16)->Arg(1)->Arg(64);

// The same with weights of a byte or half a byte.
void BM_quantised(benchmark::State& state, kv::model::Quantisation kind) {
  constexpr std::size_t rows = 3072;
  constexpr std::size_t columns = 768;
  const auto tokens = static_cast<std::size_t>(state.range(0));
  const std::size_t bytes = rows * kv::model::code_bytes(kind, columns);
  const std::size_t copies = (std::size_t{512} << 20) / bytes;
  const std::vector<std::byte> codes(bytes * copies, std::byte{0x35});
  const std::vector<float> scales(rows * kv::model::scales_of_row(kind, columns), 0.01F);
  const std::vector<float> x(tokens * columns, 0.5F);
  std::vector<float> out(tokens * rows);
  std::size_t copy = 0;
  for (auto _ : state) {
    kv::model::model_kernels().multiply_quantised(
        {kind, codes.data() + copy * bytes, scales.data(), rows, columns}, x.data(), tokens, rows,
        out.data());
    benchmark::DoNotOptimize(out.data());
    copy = (copy + 1) % copies;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

BENCHMARK_CAPTURE(BM_quantised, int8, kv::model::Quantisation::int8)->Arg(1)->Arg(64);
BENCHMARK_CAPTURE(BM_quantised, nf4, kv::model::Quantisation::nf4)->Arg(1)->Arg(64);

}  // namespace
