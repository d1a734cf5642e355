// The inner loops, selected once for the machine.
//
// Each kernel exists in plain C++ (scalar) and, where that is faster, for AVX-512, and for AVX2,
// SSE4 and NEON (written once with Highway). All compute in the same order with the same roundings,
// so a result does not depend on the machine. A sum keeps 16 running lanes (element i is added to
// lane i mod 16), which are added at the end in a fixed tree; `sum` keeps 64 lanes and folds them
// to 16 first. In dot_rows and in weighted rows a product is fused into its sum, that is, both are
// rounded once, and dot_rows pads both vectors with zeros to a multiple of sixteen. Elsewhere
// products are rounded before they are added. exp is our own polynomial.
// tests/base compares every kernel with the scalar one bit by bit, most at every length from 0 to
// 257 (kernels_test.cpp; the rows of dot_rows and weigh_rows at 1 to 130 columns).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kvcheck/base/number.h"
#include "kvcheck/base/position.h"

namespace kv {

// The longest list that Kernels::largest takes.
inline constexpr std::size_t most_candidates = 128;

struct RowSum {
  float sum = 0;
  bool any_sign = false;
};

struct Kernels {
  std::string_view name;

  // out[i] = the i-th number at `bytes`, which need not be aligned. Requires n numbers there. A NaN
  // becomes a NaN, with bits that depend on the machine.
  void (*widen)(Number number, const std::byte* bytes, std::size_t n, float* out);

  // Writes n values as numbers to `bytes`, which need not be aligned, with the bits of base/half.h:
  // to nearest, ties to even. The same NaN on every machine.
  void (*narrow)(Number number, const float* values, std::size_t n, std::byte* bytes);

  // Widens n numbers, and returns what sum() and any_sign() give of them: one pass over a row. This
  // and any_bit() prefetch what stands `ahead` bytes further on, little by little, whether or not
  // there is memory; 0: nothing.
  RowSum (*widen_and_sum)(
      Number number, const std::byte* bytes, std::size_t n, std::size_t ahead, float* out);

  // maxima[lane] = the largest values[i] with i mod 32 = lane, for 32 lanes; 0 for a lane without
  // values. Requires values >= 0.
  void (*lane_maxima)(const float* values, std::size_t n, float* maxima);

  // Returns whether any bit of n bytes is set.
  bool (*any_bit)(const std::byte* bytes, std::size_t n, std::size_t ahead);

  // Returns whether any of n values has its sign bit set, -0 and NaN included.
  bool (*any_sign)(const float* values, std::size_t n);

  // Returns the sum of n values.
  float (*sum)(const float* values, std::size_t n);

  // out[i] = values[at[i]].
  void (*gather)(const float* values, const Position* at, std::size_t n, float* out);

  // into[i] += from[i].
  void (*add)(float* into, const float* from, std::size_t n);

  // values[i] *= factor.
  void (*scale)(float* values, float factor, std::size_t n);

  // Writes the indices i with values[i] >= threshold to `at`, increasing, and returns how many.
  // Requires room for n + 16 indices in `at`; those beyond the count are undefined.
  std::size_t (*at_least)(const float* values, std::size_t n, float threshold, Position* at);

  // Selects those of m candidates whose value is among the k largest: writes them to `out` in their
  // order and returns how many, min(k, m). Among equal values the earlier candidate is selected.
  // Requires m <= most_candidates and room for m in `out`. Cost: O(m^2 / 16), which is faster than
  // a selection algorithm for a few dozen candidates.
  std::size_t (*largest)(
      const float* values, const Position* candidates, std::size_t m, std::size_t k, Position* out);

  // Returns the smallest i whose value is the smallest. A NaN counts as larger than every number;
  // 0 if all are NaN. Requires n > 0.
  std::size_t (*argmin)(const float* values, std::size_t n);
  std::size_t (*argmin_double)(const double* values, std::size_t n);

  // into[i] += from[i], which is widened exactly.
  void (*add_to_double)(double* into, const float* from, std::size_t n);

  // Sums in double, for policies that compare vectors. dot_double returns a . b; dot_weights gives
  // values . weights; quadratic gives the sum of values[i] * (linear[i] + values[i] * square[i]).
  double (*dot_double)(const float* a, const float* b, std::size_t n);
  double (*dot_weights)(const float* values, const double* weights, std::size_t n);
  double (*quadratic)(const float* values,
                      const double* linear,
                      const double* square,
                      std::size_t n);

  // Replaces each of n values by its logarithm, or by its exponential. log_each requires positive,
  // normal and finite numbers, exp_each numbers of at most 0; below -708 the exponential is 0. The
  // error is below 4 units in the last place.
  void (*log_each)(double* values, std::size_t n);
  void (*exp_each)(double* values, std::size_t n);

  // into[i] += weight * from[i].
  void (*add_weighted)(double* into, const float* from, double weight, std::size_t n);

  // least[i] = the smaller of itself and values[i]; most[i] = the larger. Requires no NaN.
  void (*extend_bounds)(const float* values, std::size_t n, float* least, float* most);

  // distance[i] = the smaller of itself and base + (cost[i] - price[i]). Returns argmin_double() of
  // the distances, which it finds in the same pass. Requires no NaN.
  std::size_t (*relax)(
      const double* cost, const double* price, double base, std::size_t n, double* distance);

  // out[i] = scale * (query . rows[i]) for n rows of `dim` numbers, stored one after another.
  void (*dot_rows)(const float* query,
                   const float* rows,
                   std::size_t n,
                   std::size_t dim,
                   float scale,
                   float* out);

  // out[j] = the sum over i of weights[i] * rows[i][j], added in the order of the rows.
  void (*weigh_rows)(
      const float* weights, const float* rows, std::size_t n, std::size_t dim, float* out);

  // The same over the n rows with the indices `at`.
  void (*weigh_rows_at)(const float* weights,
                        const float* rows,
                        const Position* at,
                        std::size_t n,
                        std::size_t dim,
                        float* out);

  // Replaces logits by probabilities in place and returns the logarithm of the sum of their
  // exponentials, so that log p = logit - result. Requires n > 0 and finite logits. The relative
  // error of each exponential is below 4e-7; logits more than 87 below the largest give 0.
  double (*softmax)(float* logits, std::size_t n);
};

// The kernels that the environment variable KV_KERNEL names ("avx512", "avx2", "sse4", "neon",
// "scalar") if this machine runs them; otherwise the best that it runs.
const Kernels& kernels();

// All kernels that this machine runs, best first; scalar is always last.
std::span<const Kernels* const> supported_kernels();

}  // namespace kv
