#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kvcheck/base/half.h"
#include "kvcheck/base/kernels/kernels_detail.h"

namespace kv {
namespace {

// The running sums: one AVX-512 register, or an array here.
using Lanes = std::array<float, 16>;

// The fixed tree: the order in which the AVX-512 kernels halve their register.
float add_lanes(Lanes lanes) {
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

template <float (*to_f32)(std::uint16_t)>
void widen_halves(const std::byte* bytes, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + 2 * i, sizeof bits);
    out[i] = to_f32(bits);
  }
}

void widen(Number number, const std::byte* bytes, std::size_t n, float* out) {
  if (number == Number::f16) return widen_halves<f16_to_f32>(bytes, n, out);
  if (number == Number::bf16) return widen_halves<bf16_to_f32>(bytes, n, out);
  if (n > 0) std::memcpy(out, bytes, n * sizeof(float));
}

void narrow(Number number, const float* values, std::size_t n, std::byte* bytes) {
  if (number == Number::f32) {
    if (n > 0) std::memcpy(bytes, values, n * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t half =
        number == Number::f16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
    std::memcpy(bytes + 2 * i, &half, sizeof half);
  }
}

void lane_maxima(const float* values, std::size_t n, float* maxima) {
  std::fill_n(maxima, 32, 0.0F);
  for (std::size_t i = 0; i < n; ++i) maxima[i % 32] = std::max(maxima[i % 32], values[i]);
}

bool any_bit(const std::byte* bytes, std::size_t n, std::size_t /*ahead*/) {
  return std::any_of(bytes, bytes + n, [](std::byte byte) { return byte != std::byte{0}; });
}

bool any_sign(const float* values, std::size_t n) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < n; ++i) bits |= std::bit_cast<std::uint32_t>(values[i]);
  return bits >> 31 != 0;
}

// Adds in the order of the AVX-512 kernel, which keeps four registers of 16 lanes.
float sum(const float* values, std::size_t n) {
  std::array<float, 64> wide{};
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    for (std::size_t lane = 0; lane < 64; ++lane) wide[lane] += values[i + lane];
  }
  for (std::size_t lane = 0; i + lane < n; ++lane) wide[lane] += values[i + lane];
  Lanes lanes{};
  for (std::size_t lane = 0; lane < 16; ++lane) {
    lanes[lane] = (wide[lane] + wide[lane + 16]) + (wide[lane + 32] + wide[lane + 48]);
  }
  return add_lanes(lanes);
}

RowSum widen_and_sum(
    Number number, const std::byte* bytes, std::size_t n, std::size_t /*ahead*/, float* out) {
  widen(number, bytes, n, out);
  return {sum(out, n), any_sign(out, n)};
}

void gather(const float* values, const Position* at, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = values[at[i]];
}

void add(float* into, const float* from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) into[i] += from[i];
}

void scale(float* values, float factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] *= factor;
}

std::size_t at_least(const float* values, std::size_t n, float threshold, Position* at) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (values[i] >= threshold) at[count++] = static_cast<Position>(i);
  }
  return count;
}

using Counts = std::array<unsigned, 16>;

// How many of m values come before each of sixteen of them, from `begin` on: larger ones, and equal
// ones that stand before it. The length of the inner loop is a constant, so that compilers make
// vectors of it.
Counts counts_before(const std::array<float, most_candidates>& all,
                     std::size_t begin,
                     std::size_t m) {
  Counts before{};
  for (std::size_t j = 0; j < m; ++j) {
    const float value = all[j];
    const auto later = static_cast<unsigned>(j < begin ? 0 : j - begin + 1);
    for (unsigned lane = 0; lane < before.size(); ++lane) {
      const float here = all[begin + lane];
      const unsigned above = value > here ? 1 : 0;
      const unsigned equal = value == here ? 1 : 0;
      const unsigned earlier = lane >= later ? 1 : 0;
      before[lane] += above | (equal & earlier);
    }
  }
  return before;
}

std::size_t largest(
    const float* values, const Position* candidates, std::size_t m, std::size_t k, Position* out) {
  std::array<float, most_candidates> all{};
  for (std::size_t i = 0; i < m; ++i) all[i] = values[candidates[i]];
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < m; begin += 16) {
    const Counts before = counts_before(all, begin, m);
    for (std::size_t i = begin; i < std::min(begin + 16, m); ++i) {
      if (before[i - begin] < k) out[count++] = candidates[i];
    }
  }
  return count;
}

// Eight running minima, then a search for the first index: five times as fast as a branch per
// number. A NaN is never less.
template <typename T>
std::size_t first_least(const T* values, std::size_t n) {
  std::array<T, 8> lanes{};
  lanes.fill(std::numeric_limits<T>::infinity());
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      lanes[lane] = values[i + lane] < lanes[lane] ? values[i + lane] : lanes[lane];
    }
  }
  for (; i < n; ++i) lanes[0] = std::min(lanes[0], values[i]);
  const T* const found = std::find(values, values + n, *std::ranges::min_element(lanes));
  return found == values + n ? 0 : static_cast<std::size_t>(found - values);
}

std::size_t argmin(const float* values, std::size_t n) {
  return first_least(values, n);
}

std::size_t argmin_double(const double* values, std::size_t n) {
  return first_least(values, n);
}

void add_to_double(double* into, const float* from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) into[i] += static_cast<double>(from[i]);
}

// Handles four numbers at a time, so that the compiler vectorises them.
std::size_t relax(
    const double* cost, const double* price, double base, std::size_t n, double* distance) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    std::array<double, 4> through{};
    for (std::size_t k = 0; k < 4; ++k) through[k] = base + (cost[i + k] - price[i + k]);
    for (std::size_t k = 0; k < 4; ++k) {
      distance[i + k] = through[k] < distance[i + k] ? through[k] : distance[i + k];
    }
  }
  for (; i < n; ++i) distance[i] = std::min(distance[i], base + (cost[i] - price[i]));
  return first_least(distance, n);
}

void dot_rows(const float* query,
              const float* rows,
              std::size_t n,
              std::size_t dim,
              float factor,
              float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = factor * scalar_dot(query, rows + i * dim, dim);
}

void add_row(float weight, const float* row, std::size_t dim, float* out) {
  for (std::size_t j = 0; j < dim; ++j) out[j] = std::fma(weight, row[j], out[j]);
}

void weigh_rows(
    const float* weights, const float* rows, std::size_t n, std::size_t dim, float* out) {
  std::fill_n(out, dim, 0.0F);
  for (std::size_t i = 0; i < n; ++i) add_row(weights[i], rows + i * dim, dim, out);
}

void weigh_rows_at(const float* weights,
                   const float* rows,
                   const Position* at,
                   std::size_t n,
                   std::size_t dim,
                   float* out) {
  std::fill_n(out, dim, 0.0F);
  for (std::size_t i = 0; i < n; ++i) add_row(weights[i], rows + at[i] * dim, dim, out);
}

// exp(x) for x <= 0: 2^n times a polynomial in the remainder, |rest| <= ln(2)/2.
float exponential(float x) {
  // From here on n + 127 is at least 1, so that the exponent below is that of a normal number.
  if (!(x >= exp_underflow)) return x < exp_underflow ? 0 : x;  // a NaN
  const float n = (x * exp_log2e + exp_magic) - exp_magic;
  const float rest = (x - n * exp_ln2_high) - n * exp_ln2_low;
  float p = exp_c6;
  for (const float c : {exp_c5, exp_c4, exp_c3, exp_c2, 1.0F, 1.0F}) p = p * rest + c;
  const auto exponent = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

double softmax(float* logits, std::size_t n) {
  const float largest = *std::max_element(logits, logits + n);
  for (std::size_t i = 0; i < n; ++i) logits[i] = exponential(logits[i] - largest);
  const float total = sum(logits, n);
  scale(logits, 1.0F / total, n);
  return static_cast<double>(largest) + std::log(static_cast<double>(total));
}

}  // namespace

float scalar_dot(const float* a, const float* b, std::size_t n) {
  Lanes lanes{};
  for (std::size_t i = 0; i < n; ++i) lanes[i % 16] = std::fma(a[i], b[i], lanes[i % 16]);
  // The padding of the last sixteen: a fused product that underflows can leave -0, and this ends
  // it.
  for (std::size_t i = n; i % 16 != 0; ++i) lanes[i % 16] += 0.0F;
  return add_lanes(lanes);
}

const Kernels scalar_kernels = {.name = "scalar",
                                .widen = widen,
                                .narrow = narrow,
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
                                .argmin_double = argmin_double,
                                .add_to_double = add_to_double,
                                .dot_double = scalar_dot_double,
                                .dot_weights = scalar_dot_weights,
                                .quadratic = scalar_quadratic,
                                .log_each = scalar_log_each,
                                .exp_each = scalar_exp_each,
                                .add_weighted = scalar_add_weighted,
                                .extend_bounds = scalar_extend_bounds,
                                .relax = relax,
                                .dot_rows = dot_rows,
                                .weigh_rows = weigh_rows,
                                .weigh_rows_at = weigh_rows_at,
                                .softmax = softmax};

}  // namespace kv
