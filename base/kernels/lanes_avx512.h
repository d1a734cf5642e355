// Functions that the AVX-512 kernels share; each handles sixteen numbers at a time.
//
// Only *_avx512.cpp may include this header. Everything in it is internal to the source that
// includes it, so that no copy for AVX-512 can reach the rest of the program.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kvcheck/base/kernels/kernels_detail.h"

// Around what is compiled for AVX-512. Every #include stands above KV_AVX512_BEGIN, so that what
// headers define is compiled for the base machine: were it compiled for AVX-512, the linker could
// hand that copy to the whole program.
//
// The warnings are those of g++ 12 about its own intrinsics, whose pass-through operands are
// undefined on purpose. clang has another pragma for the same thing.
#ifdef __clang__
#define KV_AVX512_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt")))
#define KV_AVX512_BEGIN _Pragma("clang attribute push(KV_AVX512_TARGET, apply_to = function)")
#define KV_AVX512_END _Pragma("clang attribute pop")
#else
#define KV_AVX512_BEGIN                                                                            \
  _Pragma("GCC push_options") _Pragma("GCC target(\"avx512f,avx512bw,avx512vl,avx512dq,popcnt\")") \
      _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")         \
          _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"")
#define KV_AVX512_END _Pragma("GCC diagnostic pop") _Pragma("GCC pop_options")
#endif

// For the lambdas of inner loops. One that is called at two places, such as for whole sixteens and
// for the rest, would otherwise be a function of its own.
#define KV_INLINED __attribute__((always_inline))

KV_AVX512_BEGIN

namespace kv {
namespace {

// The mask of the first n lanes, or of all sixteen if n is larger.
[[gnu::always_inline]] inline __mmask16 first(std::size_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xFFFF : (1U << n) - 1);
}

// Adds the lanes in the fixed tree: 8 + 8, then 4 + 4, 2 + 2 and 1 + 1. _mm512_reduce_add_ps is not
// used, because the compiler selects its order and g++ 12 warns about it at -O1.
[[gnu::always_inline]] inline float add_lanes(__m512 lanes) {
  const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(lanes), 1));
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(lanes), upper);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

// Loads the numbers of the lanes in `live`, widened to f32; the other lanes are 0.
template <Number number>
[[gnu::always_inline]] inline __m512 load_wide(const std::byte* bytes, __mmask16 live) {
  if constexpr (number == Number::f32) return _mm512_maskz_loadu_ps(live, bytes);
  const __m256i half = _mm256_maskz_loadu_epi16(live, bytes);
  if constexpr (number == Number::f16) return _mm512_cvtph_ps(half);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

// Calls step(i, live) for every sixteen lanes from i on; all of them live but in the last step.
template <typename Step>
[[gnu::always_inline]] inline void by_sixteen(std::size_t n, const Step& step) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) step(i, __mmask16{0xFFFF});
  if (i < n) step(i, first(n - i));
}

// The first n of 64 bytes, n > 0; shifts by 64 are undefined.
[[gnu::always_inline]] inline __mmask64 first_bytes(std::size_t n) {
  return ~std::uint64_t{0} >> (64 - n);
}

// Whether there may be a NaN among the numbers to store, which takes a step more.
enum class Nans { none, some };

// Stores the numbers of the lanes in `live` as f32, f16 or bf16, with the bits of base/half.h.
template <Number number, Nans nans>
[[gnu::always_inline]] inline void store_as(std::byte* bytes, __mmask16 live, __m512 value) {
  if constexpr (number == Number::f32) {
    _mm512_mask_storeu_ps(bytes, live, value);
    return;
  }
  const __mmask16 nan = nans == Nans::some ? _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q) : 0;
  __m512i bits = _mm512_castps_si512(value);
  __m256i half{};
  if constexpr (number == Number::f16) {
    // The instruction would keep upper bits of a NaN: its sign alone is left (bits & b | c).
    constexpr int and_or = 0xEA;
    bits = _mm512_mask_ternarylogic_epi32(bits, nan, _mm512_set1_epi32(std::int32_t{1} << 31),
                                          _mm512_set1_epi32(0x7FC00000), and_or);
    half =
        _mm512_cvtps_ph(_mm512_castsi512_ps(bits), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  } else {
    const __m512i upper = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    const __m512i up = _mm512_add_epi32(_mm512_set1_epi32(0x7FFF), odd);
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, up), 16);
    half =
        _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(rounded, nan, upper, _mm512_set1_epi32(0x40)));
  }
  _mm256_mask_storeu_epi16(bytes, live, half);
}

// The exponential of base/kernels/kernels.h. A NaN remains one, so that it is not overlooked.
[[gnu::always_inline]] inline __m512 exponential(__m512 x) {
  const __mmask16 live = _mm512_cmp_ps_mask(x, _mm512_set1_ps(exp_underflow), _CMP_NLT_UQ);
  const __m512 magic = _mm512_set1_ps(exp_magic);
  const __m512 scaled = _mm512_add_ps(_mm512_mul_ps(x, _mm512_set1_ps(exp_log2e)), magic);
  const __m512 n = _mm512_sub_ps(scaled, magic);
  const __m512 coarse = _mm512_sub_ps(x, _mm512_mul_ps(n, _mm512_set1_ps(exp_ln2_high)));
  const __m512 rest = _mm512_sub_ps(coarse, _mm512_mul_ps(n, _mm512_set1_ps(exp_ln2_low)));
  // Not a loop, which g++ 12 does not unroll at -O2.
  const auto next = [rest](__m512 sum, float term) KV_INLINED {
    return _mm512_add_ps(_mm512_mul_ps(sum, rest), _mm512_set1_ps(term));
  };
  const __m512 high = next(next(next(_mm512_set1_ps(exp_c6), exp_c5), exp_c4), exp_c3);
  const __m512 p = next(next(next(high, exp_c2), 1.0F), 1.0F);
  const __m512i biased = _mm512_add_epi32(_mm512_cvttps_epi32(n), _mm512_set1_epi32(127));
  return _mm512_maskz_mul_ps(live, p, _mm512_castsi512_ps(_mm512_slli_epi32(biased, 23)));
}

// Calls f(0), ..., f(n - 1) without a loop, so that each number is a constant. Arrays of vectors
// that are indexed by it are then kept in registers, which a loop does not ensure at -O2.
template <typename F, std::size_t... i>
[[gnu::always_inline]] inline void each_of(std::index_sequence<i...> /*all*/, const F& f) {
  (f(std::integral_constant<std::size_t, i>{}), ...);
}

template <std::size_t n, typename F>
[[gnu::always_inline]] inline void each(const F& f) {
  each_of(std::make_index_sequence<n>{}, f);
}

// The lanes of sixteen vectors, each added up in the fixed tree (8 + 8, 4 + 4, 2 + 2, 1 + 1): the
// sum of v[4 * (i % 4) + i / 4] becomes number i.
[[gnu::always_inline]] inline __m512 add_all_lanes(const __m512 (&v)[16]) {
  // A blend leaves the units that shuffle free.
  __m512 eight[8];
  each<8>([&](auto i) {
    eight[i] = _mm512_add_ps(_mm512_mask_blend_ps(0xFF00, v[2 * i], v[2 * i + 1]),
                             _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0x4E));
  });
  __m512d four[4];
  each<4>([&](auto i) {
    four[i] =
        _mm512_castps_pd(_mm512_add_ps(_mm512_shuffle_f32x4(eight[2 * i], eight[2 * i + 1], 0x88),
                                       _mm512_shuffle_f32x4(eight[2 * i], eight[2 * i + 1], 0xDD)));
  });
  __m512 two[2];
  each<2>([&](auto i) {
    const __m512d swapped = _mm512_shuffle_pd(four[2 * i], four[2 * i + 1], 0x55);
    two[i] =
        _mm512_add_ps(_mm512_castpd_ps(_mm512_mask_blend_pd(0xAA, four[2 * i], four[2 * i + 1])),
                      _mm512_castpd_ps(swapped));
  });
  return _mm512_add_ps(_mm512_shuffle_ps(two[0], two[1], 0x88),
                       _mm512_shuffle_ps(two[0], two[1], 0xDD));
}

// Prefetches `bytes` bytes from `at` on, by default into the second-level cache: the first level
// can wait for too few lines at once to keep memory busy. The function is always inlined and never
// the only statement of a lambda, because g++ 12 takes a function that only prefetches for one
// without effect and removes its calls.
template <auto level = _MM_HINT_T1>
[[gnu::always_inline]] inline void ask_for(const std::byte* at, std::size_t bytes) {
  for (std::size_t line = 0; line < bytes; line += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(at + line), level);
  }
}

}  // namespace
}  // namespace kv

KV_AVX512_END
