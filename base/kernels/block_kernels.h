// Dot products and weighted sums of many rows for several vectors at once. Each number is that of
// `dot_rows` and `weigh_rows` in base/kernels/kernels.h, bit by bit, but a row is read once for
// several vectors.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace kv {

// n rows of `dim` numbers, stored one after another.
struct Rows {
  const float* numbers = nullptr;
  std::size_t n = 0;
  std::size_t dim = 0;
};

// Numbers of several vectors for each row: number i of vector t is numbers[t * stride + i].
template <typename Number>
struct PerRow {
  Number* numbers = nullptr;
  std::size_t stride = 0;
};

struct BlockKernels {
  std::string_view name;

  // Number i of `out`, of vector t = scale * (vectors[t] . row i), for `count` vectors stored one
  // after another. Requires out.stride >= rows.n.
  void (*dot_rows)(
      const float* vectors, std::size_t count, const Rows& rows, float scale, PerRow<float> out);

  // out[t * dim + j] = the sum over i < limits[t] of number i of vector t of the weights times
  // number j of row i, added in the order of the rows. Requires limits of at most rows.n.
  void (*weigh_rows)(PerRow<const float> weights,
                     const std::size_t* limits,
                     std::size_t count,
                     const Rows& rows,
                     float* out);
};

// The best for this machine, or those that KV_KERNEL names.
const BlockKernels& block_kernels();

// All that this machine runs, best first; scalar is always last.
std::span<const BlockKernels* const> supported_block_kernels();

}  // namespace kv
