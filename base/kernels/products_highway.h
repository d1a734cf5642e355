// Products of rows of floats with many vectors, for base/kernels/lanes_highway.h. Rows that are
// stored otherwise are widened once for all vectors.
//
// As that header, it is for *_highway.cpp alone and is included once per target.
#if defined(KVCHECK_PRODUCTS_HIGHWAY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef KVCHECK_PRODUCTS_HIGHWAY_H
#undef KVCHECK_PRODUCTS_HIGHWAY_H
#else
#define KVCHECK_PRODUCTS_HIGHWAY_H
#endif

#include "kvcheck/base/kernels/fused_highway.h"
#include "kvcheck/base/kernels/lanes_highway.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::HWY_NAMESPACE {
namespace {

// Sums that stay in registers: twelve registers of AVX2's or SSE4's sixteen, 24 of NEON's 32.
constexpr std::size_t rows_at_once = 3;
constexpr std::size_t vectors_at_once = HWY_TARGET == HWY_SSE4 ? 1 : 2;

// Calls put(t, r, row r . vector t) for R rows and T vectors of n numbers, each stored one after
// another.
template <std::size_t R, std::size_t T, typename Put>
HWY_INLINE void dot_block(const float* rows, const float* vectors, std::size_t n, const Put& put) {
  Lanes sums[T * R];
  each<T * R>([&](auto k) KV_INLINE { sums[k] = all(0); });
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    // Register by register: more would not fit beside the sums.
    each<parts>([&](auto p) KV_INLINE {
      Register here[T];
      each<T>([&](auto t)
                  KV_INLINE { here[t] = hn::LoadU(Floats(), vectors + t * n + i + p * width); });
      each<R>([&](auto r) KV_INLINE {
        const Register row = hn::LoadU(Floats(), rows + r * n + i + p * width);
        each<T>([&](auto t) KV_INLINE {
          Register& sum = sums[t * R + r].part[p];
          sum = fused(row, here[t], sum);
        });
      });
    });
  }
  if (i < n) {
    each<T * R>([&](auto k) KV_INLINE {
      const Lanes row = load(rows + k % R * n + i, n - i);
      sums[k] = multiply_add(row, load(vectors + k / R * n + i, n - i), sums[k]);
    });
  }
  each<T * R>([&](auto k) KV_INLINE { put(k / R, k % R, add_lanes(sums[k])); });
}

// The same for all of `count` vectors.
template <std::size_t R, typename Put>
HWY_INLINE void dot_with_all(
    const float* rows, const float* vectors, std::size_t count, std::size_t n, const Put& put) {
  std::size_t t = 0;
  const auto here = [&](std::size_t later, std::size_t r, float sum)
                        KV_INLINE { put(t + later, r, sum); };
  for (; t + vectors_at_once <= count; t += vectors_at_once) {
    dot_block<R, vectors_at_once>(rows, vectors + t * n, n, here);
  }
  for (; t < count; ++t) dot_block<R, 1>(rows, vectors + t * n, n, here);
}

// Calls put(t, r, row r . vector t) for `row_count` rows and `count` vectors of n numbers.
// rows_of(begin, k) gives k rows from `begin` on, one after another.
template <typename RowsOf, typename Put>
HWY_INLINE void dot_all(std::size_t row_count,
                        const RowsOf& rows_of,
                        const float* vectors,
                        std::size_t count,
                        std::size_t n,
                        const Put& put) {
  std::size_t begin = 0;
  const auto here = [&](std::size_t t, std::size_t r, float sum)
                        KV_INLINE { put(t, begin + r, sum); };
  for (; begin + rows_at_once <= row_count; begin += rows_at_once) {
    dot_with_all<rows_at_once>(rows_of(begin, rows_at_once), vectors, count, n, here);
  }
  for (; begin < row_count; ++begin) {
    dot_with_all<1>(rows_of(begin, 1), vectors, count, n, here);
  }
}

}  // namespace
}  // namespace kv::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES
#endif
