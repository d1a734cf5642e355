// The AVX-512 kernels that work in double.
#include <limits>

#include "kvcheck/base/kernels/kernels_detail.h"
#include "kvcheck/base/kernels/lanes_avx512.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

[[gnu::always_inline]] inline __m512d load_wide(const float* values, __mmask8 live) {
  return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(live, values));
}

// Adds two registers of lanes in the fixed tree: 8 + 8, then 4 + 4, 2 + 2 and 1 + 1.
[[gnu::always_inline]] inline double add_lanes(__m512d low, __m512d high) {
  const __m512d eight = _mm512_add_pd(low, high);
  const __m256d four =
      _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// Adds term(i, live), the terms of eight numbers from i on, to the lanes of each half.
template <typename Term>
[[gnu::always_inline]] inline double sum_of(std::size_t n, const Term& term) {
  __m512d low = _mm512_setzero_pd();
  __m512d high = _mm512_setzero_pd();
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    low = _mm512_add_pd(low, term(i, __mmask8{0xFF}));
    high = _mm512_add_pd(high, term(i + 8, __mmask8{0xFF}));
  }
  if (i < n) {
    const unsigned live = first(n - i);
    const auto below = static_cast<__mmask8>(live);
    const auto above = static_cast<__mmask8>(live >> 8U);
    low = _mm512_mask_add_pd(low, below, low, term(i, below));
    high = _mm512_mask_add_pd(high, above, high, term(i + 8, above));
  }
  return add_lanes(low, high);
}

}  // namespace

double avx512_dot_double(const float* a, const float* b, std::size_t n) {
  return sum_of(n, [=](std::size_t i, __mmask8 live) KV_INLINED {
    return _mm512_mul_pd(load_wide(a + i, live), load_wide(b + i, live));
  });
}

double avx512_dot_weights(const float* values, const double* weights, std::size_t n) {
  return sum_of(n, [=](std::size_t i, __mmask8 live) KV_INLINED {
    return _mm512_mul_pd(load_wide(values + i, live), _mm512_maskz_loadu_pd(live, weights + i));
  });
}

double avx512_quadratic(const float* values,
                        const double* linear,
                        const double* square,
                        std::size_t n) {
  return sum_of(n, [=](std::size_t i, __mmask8 live) KV_INLINED {
    const __m512d value = load_wide(values + i, live);
    const __m512d curved = _mm512_mul_pd(value, _mm512_maskz_loadu_pd(live, square + i));
    return _mm512_mul_pd(value, _mm512_add_pd(_mm512_maskz_loadu_pd(live, linear + i), curved));
  });
}

void avx512_log_each(double* values, std::size_t n) {
  const __m512d one = _mm512_set1_pd(1);
  const __m512d two = _mm512_set1_pd(2);
  for (std::size_t i = 0; i < n; i += 8) {
    const auto live = static_cast<__mmask8>(first(n - i));
    const __m512i bits = _mm512_castpd_si512(_mm512_mask_loadu_pd(one, live, values + i));
    const __m512i exponent =
        _mm512_srai_epi64(_mm512_sub_epi64(bits, _mm512_set1_epi64(log_root_half)), 52);
    const __m512d e = _mm512_cvtepi64_pd(exponent);
    const __m512d mantissa =
        _mm512_castsi512_pd(_mm512_sub_epi64(bits, _mm512_slli_epi64(exponent, 52)));
    const __m512d above = _mm512_sub_pd(mantissa, one);
    const __m512d s = _mm512_div_pd(above, _mm512_add_pd(two, above));
    const __m512d z = _mm512_mul_pd(s, s);
    __m512d p = _mm512_set1_pd(log_terms[0]);
    for (std::size_t term = 1; term < log_terms.size(); ++term) {
      p = _mm512_add_pd(_mm512_mul_pd(p, z), _mm512_set1_pd(log_terms[term]));
    }
    const __m512d fraction = _mm512_add_pd(_mm512_mul_pd(_mm512_mul_pd(two, s), p),
                                           _mm512_mul_pd(e, _mm512_set1_pd(ln2_low)));
    const __m512d whole = _mm512_mul_pd(e, _mm512_set1_pd(ln2_high));
    _mm512_mask_storeu_pd(values + i, live, _mm512_add_pd(whole, fraction));
  }
}

void avx512_exp_each(double* values, std::size_t n) {
  const __m512d magic = _mm512_set1_pd(round_magic);
  for (std::size_t i = 0; i < n; i += 8) {
    const auto live = static_cast<__mmask8>(first(n - i));
    const __m512d x = _mm512_maskz_loadu_pd(live, values + i);
    const __mmask8 above = _mm512_cmp_pd_mask(x, _mm512_set1_pd(exp_least), _CMP_GE_OQ);
    const __m512d scaled = _mm512_add_pd(_mm512_mul_pd(x, _mm512_set1_pd(log2e)), magic);
    const __m512d whole = _mm512_sub_pd(scaled, magic);
    const __m512d coarse = _mm512_sub_pd(x, _mm512_mul_pd(whole, _mm512_set1_pd(ln2_high)));
    const __m512d rest = _mm512_sub_pd(coarse, _mm512_mul_pd(whole, _mm512_set1_pd(ln2_low)));
    __m512d p = _mm512_set1_pd(exp_terms[0]);
    for (std::size_t term = 1; term < exp_terms.size(); ++term) {
      p = _mm512_add_pd(_mm512_mul_pd(p, rest), _mm512_set1_pd(exp_terms[term]));
    }
    const __m512i exponent = _mm512_add_epi64(_mm512_cvttpd_epi64(whole), _mm512_set1_epi64(1023));
    const __m512d power = _mm512_castsi512_pd(_mm512_slli_epi64(exponent, 52));
    _mm512_mask_storeu_pd(values + i, live, _mm512_maskz_mul_pd(above, p, power));
  }
}

void avx512_add_weighted(double* into, const float* from, double weight, std::size_t n) {
  const __m512d factor = _mm512_set1_pd(weight);
  for (std::size_t i = 0; i < n; i += 8) {
    const auto live = static_cast<__mmask8>(first(n - i));
    const __m512d more = _mm512_mul_pd(factor, load_wide(from + i, live));
    _mm512_mask_storeu_pd(into + i, live,
                          _mm512_add_pd(_mm512_maskz_loadu_pd(live, into + i), more));
  }
}

// With their operands in this order the minimum and the maximum keep what is stored if both are
// equal (0 and -0), as std::min and std::max do.
void avx512_extend_bounds(const float* values, std::size_t n, float* least, float* most) {
  for (std::size_t i = 0; i < n; i += 16) {
    const __mmask16 live = first(n - i);
    const __m512 here = _mm512_maskz_loadu_ps(live, values + i);
    _mm512_mask_storeu_ps(least + i, live,
                          _mm512_min_ps(here, _mm512_maskz_loadu_ps(live, least + i)));
    _mm512_mask_storeu_ps(most + i, live,
                          _mm512_max_ps(here, _mm512_maskz_loadu_ps(live, most + i)));
  }
}

std::size_t avx512_argmin_double(const double* values, std::size_t n) {
  const __m512d infinite = _mm512_set1_pd(std::numeric_limits<double>::infinity());
  __m512d best = infinite;
  __m512d second = infinite;
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    // In this order of the operands a NaN leaves the smallest so far.
    best = _mm512_min_pd(_mm512_loadu_pd(values + i), best);
    second = _mm512_min_pd(_mm512_loadu_pd(values + i + 8), second);
  }
  for (; i < n; i += 8) {
    const __mmask8 live = static_cast<__mmask8>(first(n - i));
    best = _mm512_min_pd(_mm512_mask_loadu_pd(infinite, live, values + i), best);
  }
  const __m512d requested = _mm512_set1_pd(_mm512_reduce_min_pd(_mm512_min_pd(best, second)));
  for (i = 0; i < n; i += 8) {
    const __mmask8 live = static_cast<__mmask8>(first(n - i));
    const __m512d here = _mm512_maskz_loadu_pd(live, values + i);
    const unsigned equal = _mm512_mask_cmp_pd_mask(live, here, requested, _CMP_EQ_OQ);
    if (equal != 0) return i + static_cast<std::size_t>(__builtin_ctz(equal));
  }
  return 0;
}

void avx512_add_to_double(double* into, const float* from, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 values = _mm512_loadu_ps(from + i);
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(values));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(values, 1));
    _mm512_storeu_pd(into + i, _mm512_add_pd(_mm512_loadu_pd(into + i), low));
    _mm512_storeu_pd(into + i + 8, _mm512_add_pd(_mm512_loadu_pd(into + i + 8), high));
  }
  for (; i < n; i += 8) {
    const __mmask8 live = static_cast<__mmask8>(first(n - i));
    const __m512d wide = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(live, from + i));
    const __m512d total = _mm512_add_pd(_mm512_maskz_loadu_pd(live, into + i), wide);
    _mm512_mask_storeu_pd(into + i, live, total);
  }
}

std::size_t avx512_relax(
    const double* cost, const double* price, double base, std::size_t n, double* distance) {
  // Two registers of least distances and of the indices that have them, so that a comparison does
  // not wait for the one before.
  constexpr std::size_t registers = 2;
  const __m512d from = _mm512_set1_pd(base);
  const __m512d infinite = _mm512_set1_pd(std::numeric_limits<double>::infinity());
  __m512d best[registers] = {infinite, infinite};
  __m512i where[registers] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  const __m512i step = _mm512_set1_epi64(8);
  __m512i index = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const auto relax_eight = [&](std::size_t i, __mmask8 live, std::size_t r) {
    const __m512d reduced = _mm512_sub_pd(_mm512_maskz_loadu_pd(live, cost + i),
                                          _mm512_maskz_loadu_pd(live, price + i));
    const __m512d here = _mm512_maskz_loadu_pd(live, distance + i);
    // With its operands in this order the minimum keeps the stored distance if both are equal (0
    // and -0), as std::min does.
    const __m512d shorter = _mm512_min_pd(_mm512_add_pd(from, reduced), here);
    _mm512_mask_storeu_pd(distance + i, live, shorter);
    const __mmask8 less = _mm512_mask_cmp_pd_mask(live, shorter, best[r], _CMP_LT_OQ);
    // The minimum does not wait for the comparison's mask, as a selection would.
    best[r] = _mm512_mask_min_pd(best[r], live, shorter, best[r]);
    where[r] = _mm512_mask_mov_epi64(where[r], less, index);
    index = _mm512_add_epi64(index, step);
  };
  std::size_t i = 0;
  for (; i + 8 * registers <= n; i += 8 * registers) {
    for (std::size_t r = 0; r < registers; ++r) relax_eight(i + 8 * r, 0xff, r);
  }
  for (; i < n; i += 8) relax_eight(i, static_cast<__mmask8>(first(n - i)), 0);
  const __mmask8 second = _mm512_cmp_pd_mask(best[1], best[0], _CMP_LE_OQ);
  const __mmask8 tied = _mm512_cmp_pd_mask(best[1], best[0], _CMP_EQ_OQ);
  const __m512d least_of_lanes = _mm512_mask_mov_pd(best[0], second, best[1]);
  __m512i first_of_lanes = _mm512_mask_mov_epi64(where[0], second, where[1]);
  first_of_lanes = _mm512_mask_min_epi64(first_of_lanes, tied, where[0], where[1]);
  const double least = _mm512_reduce_min_pd(least_of_lanes);
  const __mmask8 equal = _mm512_cmp_pd_mask(least_of_lanes, _mm512_set1_pd(least), _CMP_EQ_OQ);
  return static_cast<std::size_t>(_mm512_mask_reduce_min_epi64(equal, first_of_lanes));
}

}  // namespace kv

KV_AVX512_END
