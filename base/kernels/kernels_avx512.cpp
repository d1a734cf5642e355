#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kvcheck/base/kernels/kernels_detail.h"
#include "kvcheck/base/kernels/lanes_avx512.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

template <Number number>
void widen_halves(const std::byte* bytes, std::size_t n, float* out) {
  by_sixteen(n, [=](std::size_t i, __mmask16 live) KV_INLINED {
    _mm512_mask_storeu_ps(out + i, live, load_wide<number>(bytes + 2 * i, live));
  });
}

void widen(Number number, const std::byte* bytes, std::size_t n, float* out) {
  if (number == Number::f16) return widen_halves<Number::f16>(bytes, n, out);
  if (number == Number::bf16) return widen_halves<Number::bf16>(bytes, n, out);
  if (n > 0) std::memcpy(out, bytes, n * sizeof(float));
}

void lane_maxima(const float* values, std::size_t n, float* maxima) {
  // Values are not negative, so the 0 of a masked lane never changes a maximum. Of two zeros the
  // instruction gives the second, so that -0 leaves the maximum 0.
  const __m512 zero = _mm512_setzero_ps();
  __m512 low = zero;
  __m512 high = zero;
  __m512 more[2] = {zero, zero};
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    low = _mm512_max_ps(_mm512_loadu_ps(values + i), low);
    high = _mm512_max_ps(_mm512_loadu_ps(values + i + 16), high);
    more[0] = _mm512_max_ps(_mm512_loadu_ps(values + i + 32), more[0]);
    more[1] = _mm512_max_ps(_mm512_loadu_ps(values + i + 48), more[1]);
  }
  low = _mm512_max_ps(more[0], low);
  high = _mm512_max_ps(more[1], high);
  if (i + 32 <= n) {
    low = _mm512_max_ps(_mm512_loadu_ps(values + i), low);
    high = _mm512_max_ps(_mm512_loadu_ps(values + i + 16), high);
    i += 32;
  }
  if (i < n) low = _mm512_max_ps(_mm512_maskz_loadu_ps(first(n - i), values + i), low);
  if (i + 16 < n) {
    high = _mm512_max_ps(_mm512_maskz_loadu_ps(first(n - i - 16), values + i + 16), high);
  }
  _mm512_storeu_ps(maxima, low);
  _mm512_storeu_ps(maxima + 16, high);
}

bool any_bit(const std::byte* bytes, std::size_t n, std::size_t ahead) {
  __m512i bits = _mm512_setzero_si512();
  if (n < 64) {
    if (n > 0) bits = _mm512_maskz_loadu_epi8(first_bytes(n), bytes);
    return _mm512_test_epi64_mask(bits, bits) != 0;
  }
  __m512i more = bits;
  std::size_t i = 0;
  for (; ahead > 0 && i + 64 <= n; i += 64) {
    ask_for<_MM_HINT_T0>(bytes + i + ahead, 1);
    bits = _mm512_or_si512(bits, _mm512_loadu_si512(bytes + i));
  }
  for (; i + 128 <= n; i += 128) {
    bits = _mm512_or_si512(bits, _mm512_loadu_si512(bytes + i));
    more = _mm512_or_si512(more, _mm512_loadu_si512(bytes + i + 64));
  }
  if (i + 64 <= n) {
    more = _mm512_or_si512(more, _mm512_loadu_si512(bytes + i));
    i += 64;
  }
  if (i < n) bits = _mm512_or_si512(bits, _mm512_maskz_loadu_epi8(first_bytes(n - i), bytes + i));
  bits = _mm512_or_si512(bits, more);
  return _mm512_test_epi64_mask(bits, bits) != 0;
}

bool any_sign(const float* values, std::size_t n) {
  __m512i bits = _mm512_setzero_si512();
  by_sixteen(n, [&](std::size_t i, __mmask16 live) KV_INLINED {
    const __m512 here = _mm512_maskz_loadu_ps(live, values + i);
    bits = _mm512_or_si512(bits, _mm512_castps_si512(here));
  });
  return _mm512_movepi32_mask(bits) != 0;
}

__m512 add_first(__m512 lanes, const float* values, std::size_t n) {
  const __mmask16 live = first(n);
  return _mm512_mask_add_ps(lanes, live, lanes, _mm512_maskz_loadu_ps(live, values));
}

// Keeps four sums of 16 lanes, because with one sum every addition would wait for the one before
// it.
float sum(const float* values, std::size_t n) {
  __m512 a = _mm512_setzero_ps();
  __m512 b = a;
  __m512 c = a;
  __m512 d = a;
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    a = _mm512_add_ps(a, _mm512_loadu_ps(values + i));
    b = _mm512_add_ps(b, _mm512_loadu_ps(values + i + 16));
    c = _mm512_add_ps(c, _mm512_loadu_ps(values + i + 32));
    d = _mm512_add_ps(d, _mm512_loadu_ps(values + i + 48));
  }
  if (i < n) a = add_first(a, values + i, n - i);
  if (i + 16 < n) b = add_first(b, values + i + 16, n - i - 16);
  if (i + 32 < n) c = add_first(c, values + i + 32, n - i - 32);
  if (i + 48 < n) d = add_first(d, values + i + 48, n - i - 48);
  return add_lanes(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
}

// The order of sum(): sixteen i mod 4 is added to the four lanes i mod 4.
template <Number number>
RowSum widen_and_sum_as(const std::byte* bytes, std::size_t n, std::size_t ahead, float* out) {
  constexpr std::size_t size = number == Number::f32 ? 4 : 2;
  __m512 sums[4];
  each<4>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  __m512i bits = _mm512_setzero_si512();
  const auto step = [&](std::size_t i, __m512& sum, __mmask16 live) KV_INLINED {
    const __m512 here = load_wide<number>(bytes + i * size, live);
    _mm512_mask_storeu_ps(out + i, live, here);
    bits = _mm512_or_si512(bits, _mm512_castps_si512(here));
    sum = _mm512_mask_add_ps(sum, live, sum, here);
  };
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    if (ahead > 0) ask_for<_MM_HINT_T0>(bytes + i * size + ahead, 64 * size);
    each<4>([&](auto k) { step(i + 16 * k, sums[k], 0xFFFF); });
  }
  if (ahead > 0) ask_for<_MM_HINT_T0>(bytes + i * size + ahead, (n - i) * size);
  each<4>([&](auto k) {
    if (i + 16 * k < n) step(i + 16 * k, sums[k], first(n - i - 16 * k));
  });
  return {
      add_lanes(_mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]))),
      _mm512_movepi32_mask(bits) != 0};
}

RowSum widen_and_sum(
    Number number, const std::byte* bytes, std::size_t n, std::size_t ahead, float* out) {
  if (number == Number::f16) return widen_and_sum_as<Number::f16>(bytes, n, ahead, out);
  if (number == Number::bf16) return widen_and_sum_as<Number::bf16>(bytes, n, ahead, out);
  return widen_and_sum_as<Number::f32>(bytes, n, ahead, out);
}

// A plain loop, which does two loads a cycle: hardware gathers were slower on the machines that we
// measured.
void gather(const float* values, const Position* at, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const float a = values[at[i]];
    const float b = values[at[i + 1]];
    const float c = values[at[i + 2]];
    const float d = values[at[i + 3]];
    out[i] = a;
    out[i + 1] = b;
    out[i + 2] = c;
    out[i + 3] = d;
  }
  for (; i < n; ++i) out[i] = values[at[i]];
}

void add(float* into, const float* from, std::size_t n) {
  by_sixteen(n, [=](std::size_t i, __mmask16 live) KV_INLINED {
    const __m512 total =
        _mm512_add_ps(_mm512_maskz_loadu_ps(live, into + i), _mm512_maskz_loadu_ps(live, from + i));
    _mm512_mask_storeu_ps(into + i, live, total);
  });
}

void scale(float* values, float factor, std::size_t n) {
  const __m512 by = _mm512_set1_ps(factor);
  by_sixteen(n, [=](std::size_t i, __mmask16 live) KV_INLINED {
    const __m512 product = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, values + i), by);
    _mm512_mask_storeu_ps(values + i, live, product);
  });
}

std::size_t at_least(const float* values, std::size_t n, float threshold, Position* at) {
  const __m512 limit = _mm512_set1_ps(threshold);
  const __m512i step = _mm512_set1_epi32(16);
  __m512i index = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  std::size_t count = 0;
  by_sixteen(n, [&](std::size_t i, __mmask16 live) KV_INLINED {
    const __m512 here = _mm512_maskz_loadu_ps(live, values + i);
    const __mmask16 found = _mm512_mask_cmp_ps_mask(live, here, limit, _CMP_GE_OQ);
    // Compresses in a register and stores all 16 lanes, because compressing stores are slow on some
    // machines. This is why `at` needs room for 16 indices more. There is no branch for sixteens
    // without any, because no processor can predict it in a row of attention.
    _mm512_storeu_si512(at + count, _mm512_maskz_compress_epi32(found, index));
    count += static_cast<std::size_t>(__builtin_popcount(found));
    index = _mm512_add_epi32(index, step);
  });
  return count;
}

// A candidate is selected if fewer than k values come before it: larger ones, or equal ones of
// earlier candidates. Sixteen candidates meet one value after another, which only adds to their
// counts.
std::size_t largest(
    const float* values, const Position* candidates, std::size_t m, std::size_t k, Position* out) {
  if (m <= k) return static_cast<std::size_t>(std::copy_n(candidates, m, out) - out);
  alignas(64) float all[most_candidates];
  for (std::size_t i = 0; i < m; ++i) all[i] = values[candidates[i]];
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i most = _mm512_set1_epi32(static_cast<int>(k));
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < m; begin += 16) {
    const __mmask16 live = first(m - begin);
    const __m512 here = _mm512_maskz_loadu_ps(live, all + begin);
    __m512i before = _mm512_setzero_si512();
    const auto add = [&](__mmask16 comes_before) KV_INLINED {
      before = _mm512_mask_add_epi32(before, comes_before, before, one);
    };
    std::size_t j = 0;
    for (; j < begin; ++j) add(_mm512_cmp_ps_mask(_mm512_set1_ps(all[j]), here, _CMP_GE_OQ));
    for (const std::size_t end = std::min(begin + 16, m); j < end; ++j) {
      const __m512 value = _mm512_set1_ps(all[j]);
      const auto later = static_cast<__mmask16>(0xFFFEU << (j - begin));
      add(_mm512_cmp_ps_mask(value, here, _CMP_GT_OQ) |
          _mm512_mask_cmp_ps_mask(later, value, here, _CMP_EQ_OQ));
    }
    for (; j < m; ++j) add(_mm512_cmp_ps_mask(_mm512_set1_ps(all[j]), here, _CMP_GT_OQ));
    const __mmask16 found = _mm512_mask_cmplt_epu32_mask(live, before, most);
    const auto selected = static_cast<std::size_t>(__builtin_popcount(found));
    const __m512i at = _mm512_maskz_loadu_epi32(live, candidates + begin);
    _mm512_mask_storeu_epi32(out + count, first(selected), _mm512_maskz_compress_epi32(found, at));
    count += selected;
  }
  return count;
}

// Two passes: the smallest value, then the first index that has it.
std::size_t argmin(const float* values, std::size_t n) {
  const __m512 infinite = _mm512_set1_ps(std::numeric_limits<float>::infinity());
  __m512 best = infinite;
  __m512 second = infinite;
  std::size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    // In this order of the operands a NaN leaves the smallest so far.
    best = _mm512_min_ps(_mm512_loadu_ps(values + i), best);
    second = _mm512_min_ps(_mm512_loadu_ps(values + i + 16), second);
  }
  for (; i < n; i += 16) {
    best = _mm512_min_ps(_mm512_mask_loadu_ps(infinite, first(n - i), values + i), best);
  }
  const __m512 requested = _mm512_set1_ps(_mm512_reduce_min_ps(_mm512_min_ps(best, second)));
  for (i = 0; i < n; i += 16) {
    const __mmask16 live = first(n - i);
    const __m512 here = _mm512_maskz_loadu_ps(live, values + i);
    const unsigned equal = _mm512_mask_cmp_ps_mask(live, here, requested, _CMP_EQ_OQ);
    if (equal != 0) return i + static_cast<std::size_t>(__builtin_ctz(equal));
  }
  return 0;
}

}  // namespace

const Kernels avx512_kernels = {.name = "avx512",
                                .widen = widen,
                                .narrow = avx512_narrow,
                                .widen_and_sum = widen_and_sum,
                                .lane_maxima = lane_maxima,
                                .any_bit = any_bit,
                                .any_sign = any_sign,
                                .sum = sum,
                                .gather = gather,
                                .add = add,
                                .scale = scale,
                                .at_least = at_least,
                                .largest = largest,
                                .argmin = argmin,
                                .argmin_double = avx512_argmin_double,
                                .add_to_double = avx512_add_to_double,
                                .dot_double = avx512_dot_double,
                                .dot_weights = avx512_dot_weights,
                                .quadratic = avx512_quadratic,
                                .log_each = avx512_log_each,
                                .exp_each = avx512_exp_each,
                                .add_weighted = avx512_add_weighted,
                                .extend_bounds = avx512_extend_bounds,
                                .relax = avx512_relax,
                                .dot_rows = avx512_dot_rows,
                                .weigh_rows = avx512_weigh_rows,
                                .weigh_rows_at = avx512_weigh_rows_at,
                                .softmax = avx512_softmax};

}  // namespace kv

KV_AVX512_END
