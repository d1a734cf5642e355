// The inner loops, chosen once for the machine.
//
// Each kernel exists as plain C++ (scalar) and, where it pays, for AVX-512. Both compute in the
// same order with the same roundings, so a result does not depend on the machine: a sum has 16
// running lanes (element i goes to lane i mod 16) that are added at the end in a fixed tree,
// products are rounded before they are added, and exp is our own polynomial.
// tests/base/kernels_test.cpp holds every kernel to the scalar one bit by bit, at every length from
// 0 to 257.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kvcheck/base/position.h"

namespace kv {

// Element types of stored numbers that kernels read.
enum class Number { f32, f16, bf16 };

// "f32", "f16" or "bf16".
std::string_view number_name(Number number);

// The longest list that Kernels::largest takes.
inline constexpr std::size_t most_candidates = 128;

struct Kernels {
  std::string_view name;

  // out[i] = the i-th number at `bytes`, which need not be aligned. Requires n numbers there.
  void (*widen)(Number number, const std::byte* bytes, std::size_t n, float* out);

  // The largest values at i mod 32, for each of 32 lanes: maxima[32]; 0 where a lane is empty.
  // Requires values >= 0.
  void (*lane_maxima)(const float* values, std::size_t n, float* maxima);

  // Whether any bit of n bytes is set.
  bool (*any_bit)(const std::byte* bytes, std::size_t n);

  // Whether any of n values has its sign bit set, -0 and NaN included.
  bool (*any_sign)(const float* values, std::size_t n);

  // The sum of n values.
  float (*sum)(const float* values, std::size_t n);

  // out[i] = values[at[i]].
  void (*gather)(const float* values, const Position* at, std::size_t n, float* out);

  // into[i] += from[i].
  void (*add)(float* into, const float* from, std::size_t n);

  // values[i] *= factor.
  void (*scale)(float* values, float factor, std::size_t n);

  // Writes the indices i with values[i] >= threshold to `at`, increasing, and returns how many.
  // `at` has room for n + 16: what lies beyond the count is undefined.
  std::size_t (*at_least)(const float* values, std::size_t n, float threshold, Position* at);

  // Of m candidates, in order, those whose value is among the k largest: writes them to `out` in
  // order and returns how many, min(k, m); `out` has room for m. Of equals the earlier candidate is
  // taken. Requires m <= most_candidates; cost O(m^2 / 16), which beats a selection for a few
  // dozen.
  std::size_t (*largest)(
      const float* values, const Position* candidates, std::size_t m, std::size_t k, Position* out);

  // The smallest i with the smallest value; requires n > 0 and no NaN.
  std::size_t (*argmin)(const float* values, std::size_t n);
  std::size_t (*argmin_double)(const double* values, std::size_t n);

  // into[i] += from[i], exactly widened.
  void (*add_to_double)(double* into, const float* from, std::size_t n);

  // distance[i] = the smaller of itself and base + (cost[i] - price[i]). Requires no NaN.
  void (*relax)(
      const double* cost, const double* price, double base, std::size_t n, double* distance);

  // out[i] = scale * (query . rows[i]) for n rows of `dim` numbers, one after another.
  void (*dot_rows)(const float* query,
                   const float* rows,
                   std::size_t n,
                   std::size_t dim,
                   float scale,
                   float* out);

  // out[j] = the sum over i of weights[i] * rows[i][j], rows taken in order.
  void (*weigh_rows)(
      const float* weights, const float* rows, std::size_t n, std::size_t dim, float* out);

  // The same over the rows with the numbers `at`.
  void (*weigh_rows_at)(const float* weights,
                        const float* rows,
                        const Position* at,
                        std::size_t n,
                        std::size_t dim,
                        float* out);

  // Turns logits into probabilities in place, and returns the logarithm of the sum of their
  // exponentials (log p = logit - what is returned). Requires n > 0 and finite logits. The relative
  // error of each exponential is below 4e-7; logits more than 87 below the largest give 0.
  double (*softmax)(float* logits, std::size_t n);
};

// The best kernels this machine runs, or those named by the environment variable KV_KERNEL
// ("scalar", "avx512"), unless this machine lacks them.
const Kernels& kernels();

// All kernels that this machine runs, best first; scalar is always last.
std::span<const Kernels* const> supported_kernels();

}  // namespace kv
