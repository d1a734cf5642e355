// The kernels for several vectors, for the targets of Highway.
#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/base/kernels/block_kernels_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/fused_highway.h"
#include "kvcheck/base/kernels/lanes_highway.h"
#include "kvcheck/base/kernels/products_highway.h"

#include <algorithm>

#include "kvcheck/base/kernels/block_kernels_detail.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

void dot_rows(
    const float* vectors, std::size_t count, const Rows& rows, float scale, PerRow<float> out) {
  dot_all(
      rows.n,
      [=](std::size_t begin, std::size_t) KV_INLINE { return rows.numbers + begin * rows.dim; },
      vectors, count, rows.dim,
      [=](std::size_t t, std::size_t i, float sum)
          KV_INLINE { out.numbers[t * out.stride + i] = scale * sum; });
}

// Sums of weighted rows of one vector that stay in registers: eight registers of them.
constexpr std::size_t sixteens = 8 / parts;

// The rows from `begin` to `end` that a vector of weights meets.
struct Meeting {
  const float* weights;
  std::size_t begin;
  std::size_t end;
};

// What they add to C sixteens of columns, of which the last has `count`. `columns` are the first
// row's.
template <std::size_t C, typename Count>
HWY_INLINE void weigh_columns(
    const Meeting& meeting, const float* columns, std::size_t dim, Count count, float* out) {
  Lanes total[C];
  each<C>([&](auto c) KV_INLINE { total[c] = load(out + 16 * c, count); });
  for (std::size_t i = meeting.begin; i < meeting.end; ++i) {
    const Lanes weight = all(meeting.weights[i]);
    const float* row = columns + i * dim;
    each<C>([&](auto c) KV_INLINE {
      total[c] = multiply_add(weight, load(row + 16 * c, count), total[c]);
    });
  }
  each<C>([&](auto c) KV_INLINE { store(total[c], out + 16 * c, count); });
}

// All vectors meet some rows before the next ones are read.
void weigh_rows(PerRow<const float> weights,
                const std::size_t* limits,
                std::size_t count,
                const Rows& rows,
                float* out) {
  const std::size_t dim = rows.dim;
  std::fill_n(out, count * dim, 0.0F);
  const std::size_t most = count == 0 ? 0 : *std::max_element(limits, limits + count);
  for (std::size_t begin = 0; begin < most; begin += rows_at_a_time) {
    for (std::size_t t = 0; t < count; ++t) {
      const Meeting meeting = {weights.numbers + t * weights.stride, begin,
                               std::min(begin + rows_at_a_time, limits[t])};
      float* sums = out + t * dim;
      std::size_t j = 0;
      for (; j + 16 * sixteens <= dim; j += 16 * sixteens) {
        weigh_columns<sixteens>(meeting, rows.numbers + j, dim, Sixteen(), sums + j);
      }
      for (; j + 16 <= dim; j += 16) {
        weigh_columns<1>(meeting, rows.numbers + j, dim, Sixteen(), sums + j);
      }
      if (j < dim) weigh_columns<1>(meeting, rows.numbers + j, dim, dim - j, sums + j);
    }
  }
}

}  // namespace

void put_blocks(BlockKernels& table) {
  table.dot_rows = dot_rows;
  table.weigh_rows = weigh_rows;
}

}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv {

void put_highway_blocks(Target target, BlockKernels& table) {
  KV_OF_TARGET(target, put_blocks)(table);
}

}  // namespace kv
#endif
