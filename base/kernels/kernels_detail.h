// Declarations that the kernel sources share: their tables, and the constants of the exponential.
#pragma once

#include "kvcheck/base/kernels/kernels.h"

namespace kv {

extern const Kernels scalar_kernels;
extern const Kernels avx512_kernels;

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

}  // namespace kv
