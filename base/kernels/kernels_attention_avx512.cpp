#include <array>
#include <cmath>
#include <limits>

#include "kvcheck/base/kernels/kernels_detail.h"
#include "kvcheck/base/kernels/lanes_avx512.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

__m512 dot_lanes(const float* a, const float* b, std::size_t n) {
  __m512 lanes = _mm512_setzero_ps();
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    lanes = _mm512_fmadd_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i), lanes);
  }
  if (i < n) {
    const __mmask16 live = first(n - i);
    lanes = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(live, a + i), _mm512_maskz_loadu_ps(live, b + i),
                            lanes);
  }
  return lanes;
}

// The products of a vector with sixteen rows, whose sums are added up and stored together. Not
// inlined: its registers would be saved also where there are fewer rows.
[[gnu::noinline]] void dot_sixteen(
    const float* query, const float* rows, std::size_t dim, float factor, float* out) {
  __m512 sums[16];
  each<16>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  const auto step = [&](std::size_t i, __mmask16 live) KV_INLINED {
    const __m512 here = _mm512_maskz_loadu_ps(live, query + i);
    each<16>([&](auto r) KV_INLINED {
      const __m512 row = _mm512_maskz_loadu_ps(live, rows + r * dim + i);
      __m512& sum = sums[4 * (r % 4) + r / 4];  // add_all_lanes() exchanges the two
      sum = _mm512_fmadd_ps(here, row, sum);
    });
  };
  std::size_t i = 0;
  for (; i + 16 <= dim; i += 16) step(i, 0xFFFF);
  if (i < dim) step(i, first(dim - i));
  _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_set1_ps(factor), add_all_lanes(sums)));
}

// Keeps the sums of 64 columns in registers over all rows, so that each sum is stored once.
template <typename RowOf>
void weigh(const float* weights, RowOf row_of, std::size_t n, std::size_t dim, float* out) {
  std::size_t j = 0;
  for (; j + 64 <= dim; j += 64) {
    __m512 total[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(),
                       _mm512_setzero_ps()};
    for (std::size_t i = 0; i < n; ++i) {
      const __m512 weight = _mm512_set1_ps(weights[i]);
      const float* row = row_of(i) + j;
      each<4>([&](auto r) {
        total[r] = _mm512_fmadd_ps(weight, _mm512_loadu_ps(row + 16 * r), total[r]);
      });
    }
    each<4>([&](auto r) { _mm512_storeu_ps(out + j + 16 * r, total[r]); });
  }
  for (; j < dim; j += 16) {
    const __mmask16 live = first(dim - j);
    __m512 total = _mm512_setzero_ps();
    for (std::size_t i = 0; i < n; ++i) {
      const __m512 row = _mm512_maskz_loadu_ps(live, row_of(i) + j);
      total = _mm512_fmadd_ps(_mm512_set1_ps(weights[i]), row, total);
    }
    _mm512_mask_storeu_ps(out + j, live, total);
  }
}

}  // namespace

void avx512_dot_rows(const float* query,
                     const float* rows,
                     std::size_t n,
                     std::size_t dim,
                     float factor,
                     float* out) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) dot_sixteen(query, rows + i * dim, dim, factor, out + i);
  for (; i < n; ++i) out[i] = factor * add_lanes(dot_lanes(query, rows + i * dim, dim));
}

void avx512_weigh_rows(
    const float* weights, const float* rows, std::size_t n, std::size_t dim, float* out) {
  weigh(
      weights, [=](std::size_t i) { return rows + i * dim; }, n, dim, out);
}

void avx512_weigh_rows_at(const float* weights,
                          const float* rows,
                          const Position* at,
                          std::size_t n,
                          std::size_t dim,
                          float* out) {
  weigh(
      weights, [=](std::size_t i) { return rows + at[i] * dim; }, n, dim, out);
}

double avx512_softmax(float* logits, std::size_t n) {
  const __m512 lowest = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
  __m512 most = lowest;
  for (std::size_t i = 0; i < n; i += 16) {
    const __mmask16 live = first(n - i);
    most = _mm512_max_ps(most, _mm512_mask_loadu_ps(lowest, live, logits + i));
  }
  alignas(64) std::array<float, 16> lanes{};
  _mm512_store_ps(lanes.data(), most);
  // A maximum does not depend on the order, so no tree is needed here.
  float largest = lanes[0];
  for (const float lane : lanes) largest = lane > largest ? lane : largest;
  for (std::size_t i = 0; i < n; i += 16) {
    const __mmask16 live = first(n - i);
    // The largest logit is subtracted first, so that no exponential overflows and their sum is at
    // least 1.
    const __m512 below =
        _mm512_sub_ps(_mm512_maskz_loadu_ps(live, logits + i), _mm512_set1_ps(largest));
    _mm512_mask_storeu_ps(logits + i, live, exponential(below));
  }
  const float total = avx512_kernels.sum(logits, n);
  avx512_kernels.scale(logits, 1.0F / total, n);
  return static_cast<double>(largest) + std::log(static_cast<double>(total));
}

}  // namespace kv

KV_AVX512_END
