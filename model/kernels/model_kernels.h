// The decoder's inner loops, selected with those of base/kernels/kernels.h.
//
// As there, the order of every sum is part of the definition: sixteen running lanes (element i is
// added to lane i mod 16) of vectors padded with zeros, products fused into their sums, a fixed
// tree at the end; weighted rows are added in order, fused too. So a result depends neither on the
// machine nor on how many rows, heads or tokens one call takes in. Stored numbers are widened
// exactly.
//
// Processors without an instruction for it (SSE4 and scalar kernels) emulate the fused product,
// which takes up to thirty times as long. On two cores of an Intel server it lets a prompt's
// products run at 1.4 (f32) to 1.9 (f16) times the rate, because multiplication and addition share
// their units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/model/kernels/quantised.h"

namespace kv::model {

// How keys and values are stored. The first three are those of Number.
enum class Storage {
  f32,
  f16,
  bf16,
  int8,  // whole numbers from -127 to 127, times a scale per vector
};

constexpr std::size_t bytes_of(Storage storage) {
  return storage == Storage::f32 ? 4 : storage == Storage::int8 ? 1 : 2;
}

// The keys or the values of one kv-head: row s of `rows` is the vector in slot s.
struct SlotRows {
  Storage storage = Storage::f32;
  const std::byte* rows = nullptr;
  std::size_t dim = 0;
  const std::uint32_t* slots = nullptr;  // [count]: which rows, in order
  std::size_t count = 0;
  const float* scales = nullptr;  // by slot; of int8 only
};

// Weights as they came: [rows, columns].
struct WeightRows {
  Number number = Number::f32;
  const std::byte* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

struct ModelKernels {
  std::string_view name;

  // out[t * stride + r] = (row r of weights) . (row t of x), for x [tokens, columns].
  void (*multiply)(const WeightRows& weights,
                   const float* x,
                   std::size_t tokens,
                   std::size_t stride,
                   float* out);

  // The same for quantised weights. An int8 row's scale is applied to its sum, all others' scales
  // to the weights.
  void (*multiply_quantised)(const QuantisedRows& weights,
                             const float* x,
                             std::size_t tokens,
                             std::size_t stride,
                             float* out);

  // This and weigh() do not read int8.
  // out[h * stride + i] = scale * (query h . row i) for queries [heads, dim]; each row is read from
  // memory once for all heads.
  void (*logits)(const SlotRows& keys,
                 const float* queries,
                 std::size_t heads,
                 float scale,
                 std::size_t stride,
                 float* out);

  // out[h * dim + j] = the sum over i of mass[h * stride + i] * row i [j], rows taken in order;
  // each row is read from memory once for up to four heads.
  void (*weigh)(
      const SlotRows& values, const float* mass, std::size_t heads, std::size_t stride, float* out);
};

// Those of the same name as kernels().
const ModelKernels& model_kernels();

// All that this machine runs, best first; scalar is always last.
std::span<const ModelKernels* const> supported_model_kernels();

}  // namespace kv::model
