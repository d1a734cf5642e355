// The scalar kernels that sum in double.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "kvcheck/base/kernels/kernels_detail.h"

namespace kv {
namespace {

// The running sums: two AVX-512 registers, or an array here.
using Lanes = std::array<double, 16>;

double add_lanes(Lanes lanes) {
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// Adds term(i) to lane i mod 16, for all i below n.
template <typename Term>
double sum_of(std::size_t n, const Term& term) {
  Lanes lanes{};
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::size_t lane = 0; lane < 16; ++lane) lanes[lane] += term(i + lane);
  }
  for (std::size_t lane = 0; i + lane < n; ++lane) lanes[lane] += term(i + lane);
  return add_lanes(lanes);
}

}  // namespace

double scalar_dot_double(const float* a, const float* b, std::size_t n) {
  return sum_of(n, [=](std::size_t i) { return double{a[i]} * double{b[i]}; });
}

double scalar_dot_weights(const float* values, const double* weights, std::size_t n) {
  return sum_of(n, [=](std::size_t i) { return double{values[i]} * weights[i]; });
}

double scalar_quadratic(const float* values,
                        const double* linear,
                        const double* square,
                        std::size_t n) {
  return sum_of(n, [=](std::size_t i) {
    const double value = values[i];
    return value * (linear[i] + value * square[i]);
  });
}

void scalar_log_each(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::int64_t>(values[i]);
    const std::int64_t exponent = (bits - log_root_half) >> 52;
    const auto e = static_cast<double>(exponent);
    const double above = std::bit_cast<double>(bits - (exponent << 52)) - 1;
    const double s = above / (2 + above);
    const double z = s * s;
    double p = log_terms[0];
    for (std::size_t term = 1; term < log_terms.size(); ++term) p = p * z + log_terms[term];
    values[i] = e * ln2_high + (2 * s * p + e * ln2_low);
  }
}

void scalar_exp_each(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    // Below, numbers may be too small for the integer that the exponent is made of.
    const double x = std::max(values[i], 2 * exp_least);
    const double whole = (x * log2e + round_magic) - round_magic;
    const double rest = (x - whole * ln2_high) - whole * ln2_low;
    double p = exp_terms[0];
    for (std::size_t term = 1; term < exp_terms.size(); ++term) p = p * rest + exp_terms[term];
    const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) + 1023);
    values[i] = x < exp_least ? 0 : p * std::bit_cast<double>(exponent << 52U);
  }
}

void scalar_add_weighted(double* into, const float* from, double weight, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) into[i] += weight * double{from[i]};
}

void scalar_extend_bounds(const float* values, std::size_t n, float* least, float* most) {
  for (std::size_t i = 0; i < n; ++i) {
    least[i] = std::min(least[i], values[i]);
    most[i] = std::max(most[i], values[i]);
  }
}

}  // namespace kv
