// Declarations that the kernel sources share: their tables, and the constants of the exponential.
#pragma once

#include <array>
#include <cstdint>

#include "kvcheck/base/kernels/kernel_tables.h"
#include "kvcheck/base/kernels/kernels.h"

namespace kv {

extern const Kernels scalar_kernels;
extern const Kernels avx512_kernels;

// Replace the entries of `table` for which there is a form for the target: the second those that
// work in double, the third `narrow`, the first all.
void put_highway_kernels(Target target, Kernels& table);
void put_highway_double_kernels(Target target, Kernels& table);
void put_highway_narrow(Target target, Kernels& table);

// The entry of avx512_kernels that base/kernels/narrow_avx512.cpp defines.
void avx512_narrow(Number number, const float* values, std::size_t n, std::byte* bytes);

// Entries of avx512_kernels that base/kernels/kernels_attention_avx512.cpp defines.
void avx512_dot_rows(
    const float* query, const float* rows, std::size_t n, std::size_t dim, float scale, float* out);
void avx512_weigh_rows(
    const float* weights, const float* rows, std::size_t n, std::size_t dim, float* out);
void avx512_weigh_rows_at(const float* weights,
                          const float* rows,
                          const Position* at,
                          std::size_t n,
                          std::size_t dim,
                          float* out);
double avx512_softmax(float* logits, std::size_t n);

// a . b in sixteen lanes, as base/kernels/kernels.h defines it.
float scalar_dot(const float* a, const float* b, std::size_t n);

// Entries that kernels_double_scalar.cpp and kernels_double_avx512.cpp define.
double scalar_dot_double(const float* a, const float* b, std::size_t n);
double scalar_dot_weights(const float* values, const double* weights, std::size_t n);
double scalar_quadratic(const float* values,
                        const double* linear,
                        const double* square,
                        std::size_t n);
void scalar_log_each(double* values, std::size_t n);
void scalar_exp_each(double* values, std::size_t n);
void scalar_add_weighted(double* into, const float* from, double weight, std::size_t n);
void scalar_extend_bounds(const float* values, std::size_t n, float* least, float* most);
double avx512_dot_double(const float* a, const float* b, std::size_t n);
double avx512_dot_weights(const float* values, const double* weights, std::size_t n);
double avx512_quadratic(const float* values,
                        const double* linear,
                        const double* square,
                        std::size_t n);
void avx512_log_each(double* values, std::size_t n);
void avx512_exp_each(double* values, std::size_t n);
void avx512_add_weighted(double* into, const float* from, double weight, std::size_t n);
void avx512_extend_bounds(const float* values, std::size_t n, float* least, float* most);
std::size_t avx512_argmin_double(const double* values, std::size_t n);
void avx512_add_to_double(double* into, const float* from, std::size_t n);
std::size_t avx512_relax(
    const double* cost, const double* price, double base, std::size_t n, double* distance);

// exp(x) = 2^n * exp(rest), n = round(x / ln 2). ln 2 is split so that n * exp_ln2_high is exact
// for |n| <= 127; the polynomial is Taylor's to degree 6, whose remainder on |rest| <= ln(2)/2 is
// below 1.3e-7 of the value. Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
inline constexpr float exp_log2e = 0x1.715476p0F;
inline constexpr float exp_magic = 0x1.8p23F;
inline constexpr float exp_ln2_high = 0x1.62ep-1F;
inline constexpr float exp_ln2_low = 0x1.0bfbe8p-15F;
inline constexpr float exp_underflow = -87.0F;
inline constexpr float exp_c2 = 0.5F;
inline constexpr float exp_c3 = 1.0F / 6;
inline constexpr float exp_c4 = 1.0F / 24;
inline constexpr float exp_c5 = 1.0F / 120;
inline constexpr float exp_c6 = 1.0F / 720;

// The arrays below are not inline: a copy per source keeps the AVX-512 objects apart.

// log(x) = e * ln 2 + log(m) with m from sqrt(1/2) to sqrt(2), and log(m) = 2 artanh(s) with
// s = (m - 1) / (m + 1): the series 2 s (1 + s^2/3 + ...), whose remainder after s^20/21 is below
// 1e-18 of the value. log_root_half are the bits of sqrt(1/2).
inline constexpr std::int64_t log_root_half = 0x3FE6A09E667F3BCD;
constexpr std::array<double, 11> log_terms = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
                                              1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,
                                              1.0 / 5,  1.0 / 3,  1.0};

// As exp above, in double: Taylor's polynomial to degree 13, with a remainder below 5e-18. ln2_high
// has 32 zero bits at its end.
inline constexpr double log2e = 0x1.71547652b82fep0;
inline constexpr double round_magic = 0x1.8p52;
inline constexpr double ln2_high = 0x1.62e42feep-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;
inline constexpr double exp_least = -708;
constexpr std::array<double, 14> exp_terms = {1.0 / 6227020800,
                                              1.0 / 479001600,
                                              1.0 / 39916800,
                                              1.0 / 3628800,
                                              1.0 / 362880,
                                              1.0 / 40320,
                                              1.0 / 5040,
                                              1.0 / 720,
                                              1.0 / 120,
                                              1.0 / 24,
                                              1.0 / 6,
                                              1.0 / 2,
                                              1.0,
                                              1.0};

}  // namespace kv
