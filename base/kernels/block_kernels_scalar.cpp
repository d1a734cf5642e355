#include "kvcheck/base/kernels/block_kernels_detail.h"

namespace kv {
namespace {

void dot_rows(const float* vectors,
              std::size_t count,
              const float* rows,
              std::size_t n,
              std::size_t dim,
              float scale,
              float* out,
              std::size_t stride) {
  for (std::size_t t = 0; t < count; ++t) {
    scalar_kernels.dot_rows(vectors + t * dim, rows, n, dim, scale, out + t * stride);
  }
}

void weigh_rows(const float* weights,
                std::size_t stride,
                const std::size_t* limits,
                std::size_t count,
                const float* rows,
                std::size_t dim,
                float* out) {
  for (std::size_t t = 0; t < count; ++t) {
    scalar_kernels.weigh_rows(weights + t * stride, rows, limits[t], dim, out + t * dim);
  }
}

}  // namespace

const BlockKernels scalar_block_kernels = {
    .name = "scalar", .dot_rows = dot_rows, .weigh_rows = weigh_rows};

}  // namespace kv
