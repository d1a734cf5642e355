#include <algorithm>

#include "kvcheck/base/kernels/block_kernels_detail.h"
#include "kvcheck/base/kernels/lanes_avx512.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

// Vectors that are computed together: their sums with four rows, or of four sixteens of columns,
// fill half of the registers.
constexpr std::size_t together = 4;

// Four vectors with four rows. Number 4 * t + r is that of vector t and row r.
__m512 dot_four(const float* vectors, const float* rows, std::size_t dim) {
  __m512 sums[16];
  each<16>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  const auto step = [&](std::size_t j, __mmask16 live) KV_INLINED {
    __m512 here[4];
    each<4>([&](auto t)
                KV_INLINED { here[t] = _mm512_maskz_loadu_ps(live, vectors + t * dim + j); });
    each<4>([&](auto r) KV_INLINED {
      const __m512 row = _mm512_maskz_loadu_ps(live, rows + r * dim + j);
      each<4>([&](auto t) KV_INLINED {
        __m512& sum = sums[4 * r + t];  // add_all_lanes() exchanges the two
        sum = _mm512_fmadd_ps(here[t], row, sum);
      });
    });
  };
  std::size_t j = 0;
  for (; j + 16 <= dim; j += 16) step(j, 0xFFFF);
  if (j < dim) step(j, first(dim - j));
  return add_all_lanes(sums);
}

// The vectors, in fours, with a few rows, for their places in `out`.
void dot_few(
    const float* vectors, std::size_t count, const Rows& rows, float scale, PerRow<float> out) {
  const std::size_t dim = rows.dim;
  const __m512 factor = _mm512_set1_ps(scale);
  std::size_t t = 0;
  for (; t + together <= count; t += together) {
    const float* four = vectors + t * dim;
    float* to = out.numbers + t * out.stride;
    std::size_t i = 0;
    for (; i + 4 <= rows.n; i += 4) {
      const __m512 dots = _mm512_mul_ps(factor, dot_four(four, rows.numbers + i * dim, dim));
      each<4>(
          [&](auto k) { _mm_storeu_ps(to + k * out.stride + i, _mm512_extractf32x4_ps(dots, k)); });
    }
    for (std::size_t k = 0; k < together && i < rows.n; ++k) {
      avx512_dot_rows(four + k * dim, rows.numbers + i * dim, rows.n - i, dim, scale,
                      to + k * out.stride + i);
    }
  }
  for (; t < count; ++t) {
    avx512_dot_rows(vectors + t * dim, rows.numbers, rows.n, dim, scale,
                    out.numbers + t * out.stride);
  }
}

void dot_rows(
    const float* vectors, std::size_t count, const Rows& rows, float scale, PerRow<float> out) {
  for (std::size_t i = 0; i < rows.n; i += rows_at_a_time) {
    const Rows here = {rows.numbers + i * rows.dim, std::min(rows_at_a_time, rows.n - i), rows.dim};
    dot_few(vectors, count, here, scale, {out.numbers + i, out.stride});
  }
}

// Four vectors of weights that meet some rows.
struct Meeting {
  PerRow<const float> weights;
  const std::size_t* limits;
  std::size_t begin;  // of the rows
  std::size_t end;
};

// What the vectors add to the sums of C sixteens of columns, `live` of the last sixteen, whose
// numbers in the first row are `columns`. The sums stay in registers.
template <std::size_t C>
void weigh_columns(
    const Meeting& meeting, const float* columns, std::size_t dim, __mmask16 live, float* out) {
  __m512 sums[4 * C];
  each<4 * C>(
      [&](auto k) { sums[k] = _mm512_maskz_loadu_ps(live, out + k / C * dim + 16 * (k % C)); });
  const auto meet = [&](std::size_t i, auto sees) KV_INLINED {
    __m512 row[C];
    each<C>([&](auto c) { row[c] = _mm512_maskz_loadu_ps(live, columns + i * dim + 16 * c); });
    each<4>([&](auto t) {
      if (!sees(t)) return;
      const auto& [numbers, stride] = meeting.weights;
      const __m512 weight = _mm512_set1_ps(numbers[t * stride + i]);
      each<C>([&](auto c) { sums[t * C + c] = _mm512_fmadd_ps(weight, row[c], sums[t * C + c]); });
    });
  };
  const std::size_t* limits = meeting.limits;
  const std::size_t all = std::min({limits[0], limits[1], limits[2], limits[3], meeting.end});
  std::size_t i = meeting.begin;
  for (; i < all; ++i) meet(i, [](std::size_t /*any*/) { return true; });
  for (; i < meeting.end; ++i) meet(i, [&](std::size_t t) { return i < limits[t]; });
  each<4 * C>(
      [&](auto k) { _mm512_mask_storeu_ps(out + k / C * dim + 16 * (k % C), live, sums[k]); });
}

// All groups of four vectors meet some rows before the next ones are read.
void weigh_rows(PerRow<const float> weights,
                const std::size_t* limits,
                std::size_t count,
                const Rows& rows,
                float* out) {
  const std::size_t dim = rows.dim;
  const std::size_t grouped = count / together * together;
  std::fill_n(out, grouped * dim, 0.0F);
  const std::size_t most = grouped == 0 ? 0 : *std::max_element(limits, limits + grouped);
  for (std::size_t begin = 0; begin < most; begin += rows_at_a_time) {
    const std::size_t end = std::min(begin + rows_at_a_time, most);
    for (std::size_t t = 0; t < grouped; t += together) {
      const Meeting meeting = {
          {weights.numbers + t * weights.stride, weights.stride}, limits + t, begin, end};
      float* sums = out + t * dim;
      std::size_t j = 0;
      for (; j + 64 <= dim; j += 64) {
        weigh_columns<4>(meeting, rows.numbers + j, dim, 0xFFFF, sums + j);
      }
      for (; j < dim; j += 16) {
        weigh_columns<1>(meeting, rows.numbers + j, dim, first(dim - j), sums + j);
      }
    }
  }
  for (std::size_t t = grouped; t < count; ++t) {
    avx512_weigh_rows(weights.numbers + t * weights.stride, rows.numbers, limits[t], dim,
                      out + t * dim);
  }
}

}  // namespace

const BlockKernels avx512_block_kernels = {
    .name = "avx512", .dot_rows = dot_rows, .weigh_rows = weigh_rows};

}  // namespace kv

KV_AVX512_END
