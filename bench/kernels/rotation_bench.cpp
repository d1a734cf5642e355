// Rotating stored keys in place, in f32 and in the arithmetic of AVX512-FP16's complex
// multiplication. Agreement with the scalar kernels is checked once before each loop;
// tests/model/rotate_kernels_test.cpp does so at every length.
#include <benchmark/benchmark.h>

#include <numeric>
#include <string>
#include <vector>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/check.h"
#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/rotation/rotate_kernels.h"

namespace {

constexpr std::size_t dim = 128;
constexpr std::size_t pairs = dim / 2;
constexpr std::size_t count = 64;  // 16 KB in 16 bits, which the nearest cache holds

using Keys = kv::AlignedBytes;  // as a cache's rows are

Keys some_keys(kv::Number number) {
  std::vector<float> values(count * dim);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(kv::Rng(7).normal(static_cast<kv::Position>(i)));
  }
  Keys bytes(values.size() * (number == kv::Number::f32 ? 4 : 2));
  kv::kernels().narrow(number, values.data(), values.size(), bytes.data());
  return bytes;
}

// A rotation by 90 degrees is exact, so that keys keep their lengths however often they are
// rotated.
void rotate(const kv::model::RotateKernels& kernels,
            kv::Number number,
            bool by_halves,
            Keys& keys) {
  static const std::vector<std::uint32_t> slots = [] {
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0U);
    return all;
  }();
  static const std::vector<float> cosines(pairs, 0);
  static const std::vector<float> sines(pairs, 1);
  static const std::vector<std::uint16_t> halves = [] {
    std::vector<std::uint16_t> both(2 * pairs);
    for (std::size_t i = 0; i < pairs; ++i) both[2 * i + 1] = kv::f32_to_f16(1);
    return both;
  }();
  const kv::model::RotatedRows rows{.rows = keys.data(),
                                    .dim = dim,
                                    .slots = slots.data(),
                                    .count = count,
                                    .layout = kv::RopeLayout::half,
                                    .pairs = pairs};
  if (by_halves) {
    kernels.rotate_f16(rows, halves.data());
  } else {
    kernels.rotate(number, rows, cosines.data(), sines.data());
  }
}

void BM_rotate(benchmark::State& state,
               const kv::model::RotateKernels* kernels,
               kv::Number number,
               bool by_halves) {
  Keys keys = some_keys(number);
  Keys expected = keys;
  rotate(*kernels, number, by_halves, keys);
  rotate(*kv::model::supported_rotate_kernels().back(), number, by_halves, expected);
  KV_CHECK(keys == expected);
  for (auto _ : state) {
    rotate(*kernels, number, by_halves, keys);
    benchmark::DoNotOptimize(keys.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(count));
}

const bool registered = [] {
  for (const kv::model::RotateKernels* kernels : kv::model::supported_rotate_kernels()) {
    const std::string name(kernels->name);
    for (const auto& [what, number, by_halves] : {std::tuple("f32 by f32", kv::Number::f32, false),
                                                  {"f16 by f32", kv::Number::f16, false},
                                                  {"f16 by f16", kv::Number::f16, true}}) {
      benchmark::RegisterBenchmark(("rotate/" + std::string(what) + "/" + name).c_str(), BM_rotate,
                                   kernels, number, by_halves);
    }
  }
  return true;
}();

}  // namespace
