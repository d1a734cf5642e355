// Dot products and weighted sums of many rows for several vectors at once. Each number is that of
// `dot_rows` and `weigh_rows` in base/kernels/kernels.h, bit by bit, but a row is read once for
// several vectors.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace kv {

struct BlockKernels {
  std::string_view name;

  // out[t * stride + i] = scale * (vectors[t] . rows[i]) for `count` vectors and n rows of `dim`
  // numbers, both stored one after another. Requires stride >= n.
  void (*dot_rows)(const float* vectors,
                   std::size_t count,
                   const float* rows,
                   std::size_t n,
                   std::size_t dim,
                   float scale,
                   float* out,
                   std::size_t stride);

  // out[t * dim + j] = the sum over i < limits[t] of weights[t * stride + i] * rows[i][j], added in
  // the order of the rows, for `count` vectors of weights.
  void (*weigh_rows)(const float* weights,
                     std::size_t stride,
                     const std::size_t* limits,
                     std::size_t count,
                     const float* rows,
                     std::size_t dim,
                     float* out);
};

// The best for this machine, or those that KV_KERNEL names.
const BlockKernels& block_kernels();

// All that this machine runs, best first; scalar is always last.
std::span<const BlockKernels* const> supported_block_kernels();

}  // namespace kv
