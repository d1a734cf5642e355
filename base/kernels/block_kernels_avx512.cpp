#include <algorithm>

#include "kvcheck/base/kernels/block_kernels_detail.h"
#include "kvcheck/base/kernels/lanes_avx512.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

// Vectors that are computed together: their sums with four rows, or of four sixteens of columns,
// fill half of the registers.
constexpr std::size_t together = 4;

// Four vectors with four rows. Number 4 * t + r is that of vector t and row r. Products are rounded
// before they are added, as in the scalar kernel.
__m512 dot_four(const float* vectors, const float* rows, std::size_t dim) {
  __m512 sums[16];
  each<16>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  const auto step = [&](std::size_t j, __mmask16 live) __attribute__((always_inline)) {
    __m512 here[4];
    each<4>([&](auto t) { here[t] = _mm512_maskz_loadu_ps(live, vectors + t * dim + j); });
    each<4>([&](auto r) {
      const __m512 row = _mm512_maskz_loadu_ps(live, rows + r * dim + j);
      // The lanes beyond the end add 0 to sums that are never -0.
      each<4>([&](auto t) {
        __m512& sum = sums[4 * r + t];  // add_all_lanes() exchanges the two
        sum = _mm512_add_ps(sum, _mm512_mul_ps(here[t], row));
      });
    });
  };
  std::size_t j = 0;
  for (; j + 16 <= dim; j += 16) step(j, 0xFFFF);
  if (j < dim) step(j, first(dim - j));
  return add_all_lanes(sums);
}

// Four vectors with a few rows, for their places in `out`.
void dot_rows_with_four(const float* vectors,
                        const float* rows,
                        std::size_t n,
                        std::size_t dim,
                        float scale,
                        float* out,
                        std::size_t stride) {
  const __m512 factor = _mm512_set1_ps(scale);
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const __m512 dots = _mm512_mul_ps(factor, dot_four(vectors, rows + i * dim, dim));
    each<4>([&](auto t) { _mm_storeu_ps(out + t * stride + i, _mm512_extractf32x4_ps(dots, t)); });
  }
  for (std::size_t t = 0; t < 4 && i < n; ++t) {
    avx512_dot_rows(vectors + t * dim, rows + i * dim, n - i, dim, scale, out + t * stride + i);
  }
}

void dot_rows(const float* vectors,
              std::size_t count,
              const float* rows,
              std::size_t n,
              std::size_t dim,
              float scale,
              float* out,
              std::size_t stride) {
  for (std::size_t i = 0; i < n; i += rows_at_a_time) {
    const std::size_t here = std::min(rows_at_a_time, n - i);
    std::size_t t = 0;
    for (; t + together <= count; t += together) {
      dot_rows_with_four(vectors + t * dim, rows + i * dim, here, dim, scale, out + t * stride + i,
                         stride);
    }
    for (; t < count; ++t) {
      avx512_dot_rows(vectors + t * dim, rows + i * dim, here, dim, scale, out + t * stride + i);
    }
  }
}

// What four vectors of weights add to the sums of C sixteens of columns: the rows from `begin` to
// `end`, or to their limits. `live` are the columns of the last sixteen. Sums stay in registers.
template <std::size_t C>
void weigh_columns(const float* weights,
                   std::size_t stride,
                   const std::size_t* limits,
                   const float* rows,
                   std::size_t begin,
                   std::size_t end,
                   std::size_t dim,
                   __mmask16 live,
                   float* out) {
  __m512 sums[4 * C];
  each<4 * C>(
      [&](auto k) { sums[k] = _mm512_maskz_loadu_ps(live, out + k / C * dim + 16 * (k % C)); });
  const auto meet = [&](std::size_t i, auto sees) __attribute__((always_inline)) {
    __m512 row[C];
    each<C>([&](auto c) { row[c] = _mm512_maskz_loadu_ps(live, rows + i * dim + 16 * c); });
    each<4>([&](auto t) {
      if (!sees(t)) return;
      const __m512 weight = _mm512_set1_ps(weights[t * stride + i]);
      each<C>([&](auto c) {
        sums[t * C + c] = _mm512_add_ps(sums[t * C + c], _mm512_mul_ps(weight, row[c]));
      });
    });
  };
  const std::size_t all = std::min({limits[0], limits[1], limits[2], limits[3], end});
  std::size_t i = begin;
  for (; i < all; ++i) meet(i, [](std::size_t /*any*/) { return true; });
  for (; i < end; ++i) meet(i, [&](std::size_t t) { return i < limits[t]; });
  each<4 * C>(
      [&](auto k) { _mm512_mask_storeu_ps(out + k / C * dim + 16 * (k % C), live, sums[k]); });
}

// All groups of four vectors meet some rows before the next ones are read.
void weigh_rows(const float* weights,
                std::size_t stride,
                const std::size_t* limits,
                std::size_t count,
                const float* rows,
                std::size_t dim,
                float* out) {
  const std::size_t grouped = count / together * together;
  std::fill_n(out, grouped * dim, 0.0F);
  const std::size_t most = grouped == 0 ? 0 : *std::max_element(limits, limits + grouped);
  for (std::size_t begin = 0; begin < most; begin += rows_at_a_time) {
    const std::size_t end = std::min(begin + rows_at_a_time, most);
    for (std::size_t t = 0; t < grouped; t += together) {
      const float* here = weights + t * stride;
      const std::size_t* seen = limits + t;
      float* sums = out + t * dim;
      std::size_t j = 0;
      for (; j + 64 <= dim; j += 64) {
        weigh_columns<4>(here, stride, seen, rows + j, begin, end, dim, 0xFFFF, sums + j);
      }
      for (; j < dim; j += 16) {
        weigh_columns<1>(here, stride, seen, rows + j, begin, end, dim, first(dim - j), sums + j);
      }
    }
  }
  for (std::size_t t = grouped; t < count; ++t) {
    avx512_weigh_rows(weights + t * stride, rows, limits[t], dim, out + t * dim);
  }
}

}  // namespace

const BlockKernels avx512_block_kernels = {
    .name = "avx512", .dot_rows = dot_rows, .weigh_rows = weigh_rows};

}  // namespace kv

KV_AVX512_END
