#include "kvcheck/base/kernels/block_kernels_detail.h"

namespace kv {
namespace {

void dot_rows(
    const float* vectors, std::size_t count, const Rows& rows, float scale, PerRow<float> out) {
  for (std::size_t t = 0; t < count; ++t) {
    scalar_kernels.dot_rows(vectors + t * rows.dim, rows.numbers, rows.n, rows.dim, scale,
                            out.numbers + t * out.stride);
  }
}

void weigh_rows(PerRow<const float> weights,
                const std::size_t* limits,
                std::size_t count,
                const Rows& rows,
                float* out) {
  for (std::size_t t = 0; t < count; ++t) {
    scalar_kernels.weigh_rows(weights.numbers + t * weights.stride, rows.numbers, limits[t],
                              rows.dim, out + t * rows.dim);
  }
}

}  // namespace

const BlockKernels scalar_block_kernels = {
    .name = "scalar", .dot_rows = dot_rows, .weigh_rows = weigh_rows};

}  // namespace kv
