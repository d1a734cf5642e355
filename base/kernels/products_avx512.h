// Products of rows of floats with many vectors, for base/kernels/lanes_avx512.h. Rows that are
// stored otherwise are widened once for all vectors, and prefetched as they are.
//
// As that header, it is for *_avx512.cpp alone, and everything in it is internal to the source that
// includes it.
#pragma once

#include "kvcheck/base/kernels/lanes_avx512.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

// Their sums fill 24 of 32 registers. Six rows of 768 floats fit into a first-level cache of 32 KB
// beside four vectors.
constexpr std::size_t rows_at_once = 6;
constexpr std::size_t vectors_at_once = 4;

// Sums of four rows are stored together, so their number is rounded up.
template <std::size_t R>
constexpr std::size_t row_groups = (R + 3) / 4;

template <std::size_t R, std::size_t T>
using Sums = float[T][4 * row_groups<R>];

// Dot products of R rows with T vectors of n numbers, each stored one after another.
template <std::size_t R, std::size_t T>
void dot_tile(const float* rows, const float* vectors, std::size_t n, Sums<R, T>& out) {
  __m512 sums[row_groups<R>][16];
  each<row_groups<R>>([&](auto g) { each<16>([&](auto k) { sums[g][k] = _mm512_setzero_ps(); }); });
  const auto step = [&](std::size_t i, __mmask16 live) KV_INLINED {
    __m512 here[T];
    each<T>([&](auto t) KV_INLINED { here[t] = _mm512_maskz_loadu_ps(live, vectors + t * n + i); });
    each<R>([&](auto r) KV_INLINED {
      const __m512 row = _mm512_maskz_loadu_ps(live, rows + r * n + i);
      each<T>([&](auto t) KV_INLINED {
        __m512& sum = sums[r / 4][4 * (r % 4) + t];  // add_all_lanes() exchanges the two
        sum = _mm512_fmadd_ps(row, here[t], sum);
      });
    });
  };
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) step(i, 0xFFFF);
  if (i < n) step(i, first(n - i));
  each<row_groups<R>>([&](auto g) {
    const __m512 dots = add_all_lanes(sums[g]);
    each<T>([&](auto t) { _mm_storeu_ps(out[t] + 4 * g, _mm512_extractf32x4_ps(dots, t)); });
  });
}

// `count` vectors of n numbers, stored one after another.
struct Vectors {
  const float* numbers;
  std::size_t count;
  std::size_t n;
};

// Rows as they are stored.
struct StoredRows {
  const std::byte* data;
  std::size_t bytes;  // of a row
  std::size_t count;
};

// Calls put(t, sums) for every vector t: its products with R rows, of which `rows` are the numbers.
// Each step asks memory for its share of the `bytes` from `next` on: all at once would be more than
// one core can wait for.
template <std::size_t R, typename Put>
void dot_with_all(const float* rows,
                  const Vectors& vectors,
                  const std::byte* next,
                  std::size_t bytes,
                  const Put& put) {
  std::size_t asked = 0;
  const auto some = [&]<std::size_t T>(std::size_t t,
                                       std::integral_constant<std::size_t, T> /*T*/) {
    const std::size_t share = bytes * (t + T) / vectors.count;
    for (; asked < share; asked += 64) ask_for(next + asked, 1);
    Sums<R, T> sums;
    dot_tile<R, T>(rows, vectors.numbers + t * vectors.n, vectors.n, sums);
    for (std::size_t k = 0; k < T; ++k) put(t + k, sums[k]);
  };
  std::size_t t = 0;
  for (; t + vectors_at_once <= vectors.count; t += vectors_at_once) {
    some(t, std::integral_constant<std::size_t, vectors_at_once>());
  }
  for (; t < vectors.count; ++t) some(t, std::integral_constant<std::size_t, 1>());
}

// Calls put(t, r, sums, R) for R rows from r on and vector t until all rows have been multiplied
// with all vectors; R is a constant. rows_of(begin, k) gives the numbers of k rows from `begin` on,
// one row after another.
template <typename RowsOf, typename Put>
void dot_all(const StoredRows& stored,
             const RowsOf& rows_of,
             const Vectors& vectors,
             const Put& put) {
  std::size_t begin = 0;
  const auto by = [&]<std::size_t R>(std::integral_constant<std::size_t, R> /*R*/) {
    for (; begin + R <= stored.count; begin += R) {
      const std::byte* next = stored.data + (begin + R) * stored.bytes;
      dot_with_all<R>(rows_of(begin, R), vectors, next, R * stored.bytes,
                      [&](std::size_t t, const float* sums) {
                        put(t, begin, sums, std::integral_constant<std::size_t, R>());
                      });
    }
  };
  by(std::integral_constant<std::size_t, rows_at_once>());
  by(std::integral_constant<std::size_t, 2>());
  by(std::integral_constant<std::size_t, 1>());
}

}  // namespace
}  // namespace kv

KV_AVX512_END
