// Traces for the benchmarks: a sink, recency and noise, as f16, larger than the last-level cache.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "kvcheck/base/half.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/traces/trace.h"

namespace kv {

struct BenchShape {
  std::size_t layers = 4;
  std::size_t heads = 8;
  std::size_t tokens = 1024;
  std::size_t head_dim = 64;
};

inline TraceInfo bench_info(const BenchShape& shape, TraceKind kind) {
  TraceInfo info;
  info.name = "benchmark";
  info.kind = kind;
  info.tokens = shape.tokens;
  info.query_heads = shape.heads;
  info.kv_heads = shape.heads;
  info.head_dim = shape.head_dim;
  info.number = Number::f16;
  for (std::size_t layer = 0; layer < shape.layers; ++layer) info.layers.push_back(layer);
  if (kind == TraceKind::qkv) info.rope = {RopeLayout::half, shape.head_dim, 10000};
  return info;
}

using Halves = std::vector<std::uint16_t>;

inline TensorView bench_tensor(std::vector<std::size_t> shape, const Halves& halves) {
  return {Number::f16, std::move(shape), reinterpret_cast<const std::byte*>(halves.data())};
}

// A quarter of a row's mass is on position 0. The rest is proportional to (the key's own weight) *
// (noise of the pair, 1/2 to 3/2) / (distance + 8). A key's weight is 1/u for a uniform u, so some
// keys are heavy for all queries, as in recorded attention.
inline Halves bench_rows(const BenchShape& shape, std::uint32_t layer) {
  const std::size_t n = shape.tokens;
  Halves rows(shape.heads * n * n);
  std::vector<double> row(n);
  for (std::size_t head = 0; head < shape.heads; ++head) {
    const Rng rng(1, stream_of(layer, head));
    for (std::size_t query = 0; query < n; ++query) {
      double sum = 0;
      for (std::size_t key = 0; key <= query; ++key) {
        const std::uint64_t noise = rng.bits(static_cast<Position>(key), 1) >> (query % 48) & 0xFF;
        const double weight = 1 / rng.uniform(static_cast<Position>(key));
        row[key] = weight * static_cast<double>(128 + noise) / static_cast<double>(query - key + 8);
        sum += row[key];
      }
      row[0] += sum / 3;
      sum += sum / 3;
      std::uint16_t* out = rows.data() + (head * n + query) * n;
      for (std::size_t key = 0; key <= query; ++key) {
        out[key] = f32_to_f16(static_cast<float>(row[key] / sum));
      }
    }
  }
  return rows;
}

inline Halves bench_normals(std::size_t size, std::uint32_t stream) {
  Halves out(size);
  const Rng rng(2, stream);
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = f32_to_f16(static_cast<float>(rng.normal(static_cast<Position>(i))));
  }
  return out;
}

inline Trace bench_attention(const BenchShape& shape) {
  auto blocks = std::make_shared<std::vector<Halves>>();
  std::vector<Trace::Layer> layers(shape.layers);
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
    blocks->push_back(bench_rows(shape, layer));
    layers[layer].attention =
        bench_tensor({shape.heads, shape.tokens, shape.tokens}, blocks->back());
  }
  return {bench_info(shape, TraceKind::attention), std::move(layers), {}, blocks};
}

inline Trace bench_qkv(const BenchShape& shape) {
  auto blocks = std::make_shared<std::vector<Halves>>();
  std::vector<Trace::Layer> layers(shape.layers);
  std::uint32_t stream = 0;
  const auto tensor = [&] {
    blocks->push_back(bench_normals(shape.heads * shape.tokens * shape.head_dim, stream++));
    return bench_tensor({shape.heads, shape.tokens, shape.head_dim}, blocks->back());
  };
  for (Trace::Layer& layer : layers) layer = {{}, tensor(), tensor(), tensor()};
  return {bench_info(shape, TraceKind::qkv), std::move(layers), {}, blocks};
}

}  // namespace kv
