// What benchmarks of kernels share: numbers to work on, and how they are registered.
#pragma once

#include <benchmark/benchmark.h>

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kvcheck/base/aligned_floats.h"
#include "kvcheck/base/half.h"
#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/random/rng.h"

namespace kv {

using Bytes = std::vector<std::byte>;

// The best that this machine runs.
inline const Kernels& kernel() {
  return *supported_kernels().front();
}

inline AlignedFloats some_floats(std::size_t n) {
  const Rng rng(3);
  AlignedFloats out;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back(static_cast<float>(rng.normal(static_cast<Position>(i))));
  }
  return out;
}

inline AlignedFloats above_zero(std::size_t n) {
  AlignedFloats out = some_floats(n);
  for (float& value : out) value = value < 0 ? -value : value;
  return out;
}

// Numbers of so many bytes: f16, whose bits pass for bf16 too, f32, or codes of one byte.
inline Bytes stored(std::size_t n, std::size_t size) {
  const AlignedFloats values = some_floats(n);
  Bytes bytes(n * size, std::byte{0x35});
  for (std::size_t i = 0; i < n && size > 1; ++i) {
    const std::uint16_t half = f32_to_f16(values[i]);
    if (size == 2) std::memcpy(bytes.data() + 2 * i, &half, 2);
    if (size == 4) std::memcpy(bytes.data() + 4 * i, &values[i], 4);
  }
  return bytes;
}

// Registers "kernel/NAME", which calls `work` again and again.
inline void add_benchmark(const std::string& name, const std::function<void()>& work) {
  const auto run = [work](benchmark::State& state) {
    for (auto _ : state) {
      work();
      benchmark::ClobberMemory();
    }
  };
  benchmark::RegisterBenchmark(("kernel/" + name).c_str(), run);
}

inline std::string at_length(const std::string& name, std::size_t n) {
  return name + "/" + std::to_string(n);
}

inline const std::vector<std::pair<std::string, Number>>& all_numbers() {
  static const std::vector<std::pair<std::string, Number>> all = {
      {"f32", Number::f32}, {"f16", Number::f16}, {"bf16", Number::bf16}};
  return all;
}

}  // namespace kv
