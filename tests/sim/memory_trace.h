// Traces in memory for tests, with f32 numbers given by functions.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "kvcheck/base/random/rng.h"
#include "kvcheck/traces/trace.h"

namespace kv {

struct MemoryShape {
  std::size_t tokens = 40;
  std::size_t layers = 2;
  std::size_t query_heads = 4;
  std::size_t kv_heads = 2;
  std::size_t head_dim = 8;
  Rope rope = {RopeLayout::half, 8, 100};
};

// Owns the numbers that a trace's views point into.
class Floats {
 public:
  TensorView tensor(std::vector<std::size_t> shape, const std::function<float(std::size_t)>& at) {
    std::size_t size = 1;
    for (const std::size_t n : shape) size *= n;
    auto& block = blocks_.emplace_back(std::make_unique<std::vector<float>>(size));
    for (std::size_t i = 0; i < size; ++i) (*block)[i] = at(i);
    return {Number::f32, std::move(shape), reinterpret_cast<const std::byte*>(block->data())};
  }

 private:
  std::vector<std::unique_ptr<std::vector<float>>> blocks_;
};

inline TraceInfo memory_info(const MemoryShape& shape, TraceKind kind) {
  TraceInfo info;
  info.name = "memory";
  info.kind = kind;
  info.tokens = shape.tokens;
  info.query_heads = shape.query_heads;
  info.kv_heads = shape.kv_heads;
  info.head_dim = shape.head_dim;
  for (std::size_t layer = 0; layer < shape.layers; ++layer) info.layers.push_back(layer);
  if (kind == TraceKind::qkv) info.rope = shape.rope;
  return info;
}

// Attention rows: weight(layer, head, query, key) >= 0, normalised here; zero above the diagonal.
using WeightOf = std::function<double(std::size_t, std::size_t, std::size_t, std::size_t)>;

inline Trace attention_trace(const MemoryShape& shape, const WeightOf& weight) {
  auto floats = std::make_shared<Floats>();
  const std::size_t n = shape.tokens;
  std::vector<Trace::Layer> layers(shape.layers);
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    layers[layer].attention = floats->tensor({shape.query_heads, n, n}, [&](std::size_t i) {
      const std::size_t head = i / (n * n);
      const std::size_t query = i / n % n;
      const std::size_t key = i % n;
      if (key > query) return 0.0F;
      double sum = 0;
      for (std::size_t k = 0; k <= query; ++k) sum += weight(layer, head, query, k);
      return static_cast<float>(weight(layer, head, query, key) / sum);
    });
  }
  return {memory_info(shape, TraceKind::attention), std::move(layers), {}, floats};
}

// Queries, keys and values drawn from a normal distribution with that standard deviation.
inline Trace random_qkv_trace(const MemoryShape& shape,
                              std::uint64_t seed = 1,
                              double deviation = 1.5) {
  auto floats = std::make_shared<Floats>();
  std::vector<Trace::Layer> layers(shape.layers);
  std::uint32_t stream = 0;
  const auto normal = [&](std::size_t heads) {
    const Rng rng(seed, stream++);
    return floats->tensor({heads, shape.tokens, shape.head_dim}, [&](std::size_t i) {
      return static_cast<float>(deviation * rng.normal(static_cast<Position>(i)));
    });
  };
  for (Trace::Layer& layer : layers) {
    layer.q = normal(shape.query_heads);
    layer.k = normal(shape.kv_heads);
    layer.v = normal(shape.kv_heads);
  }
  return {memory_info(shape, TraceKind::qkv), std::move(layers), {}, floats};
}

inline double number_at(const TensorView& tensor, std::size_t i) {
  float value = 0;
  std::memcpy(&value, tensor.data + 4 * i, 4);
  return static_cast<double>(value);
}

}  // namespace kv
