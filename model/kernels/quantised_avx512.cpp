#include "kvcheck/base/kernels/lanes_avx512.h"
#include "kvcheck/base/kernels/products_avx512.h"
#include "kvcheck/model/kernels/block_codes.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

KV_AVX512_BEGIN

namespace kv::model {
namespace {

struct Int8Row {
  static constexpr Quantisation kind = Quantisation::int8;
  const std::byte* codes;
  const float* scales;

  // Weights i to i + 15, of which `count` are there.
  [[nodiscard, gnu::always_inline]] __m512 load(std::size_t i, std::size_t count) const {
    const __m128i bytes = _mm_maskz_loadu_epi8(first(count), codes + i);
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
  }
};

struct Nf4Row {
  static constexpr Quantisation kind = Quantisation::nf4;
  const std::byte* codes;
  const float* scales;

  // Eight bytes are sixteen codes: each half of them goes to eight lanes, which shift their own
  // code down. The look-up reads the low four bits only. Masks of all lanes cost a fifth of the
  // time (Zen 5, g++ 12), so that whole sixteens have none.
  [[nodiscard, gnu::always_inline]] __m512 load(std::size_t i, std::size_t count) const {
    const auto live = static_cast<__mmask16>((1U << (count + 1) / 2) - 1);
    const __m128i bytes = count == 16
                              ? _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + i / 2))
                              : _mm_maskz_loadu_epi8(live, codes + i / 2);
    const __m512i spread = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i shifts =
        _mm512_set_epi32(28, 24, 20, 16, 12, 8, 4, 0, 28, 24, 20, 16, 12, 8, 4, 0);
    const __m512i halves = _mm512_permutexvar_epi32(spread, _mm512_castsi128_si512(bytes));
    const __m512 levels = _mm512_permutexvar_ps(_mm512_srlv_epi32(halves, shifts),
                                                _mm512_loadu_ps(nf4_levels.data()));
    const __m512 scale = _mm512_set1_ps(scales[i / nf4_block]);
    if (count == 16) return _mm512_mul_ps(levels, scale);
    // The codes beyond the end are 0, of which the level is not.
    return _mm512_maskz_mul_ps(first(count), levels, scale);
  }
};

// Formats in blocks; rows are whole blocks, so all sixteen weights are always there.
template <Quantisation format,
          std::size_t weights = block_size(format).weights,
          std::size_t bytes = block_size(format).bytes>
struct BlockRow {
  static constexpr Quantisation kind = format;
  const std::byte* codes;
  const float* scales;  // none

  [[nodiscard, gnu::always_inline]] __m512 load(std::size_t i, std::size_t /*count*/) const {
    const BlockGroup group = group_of<format>(codes + i / weights * bytes, i % weights);
    const auto* low = reinterpret_cast<const __m128i*>(group.low);
    __m512i code{};
    if constexpr (format == Quantisation::q8_0) {
      code = _mm512_cvtepi8_epi32(_mm_loadu_si128(low));
    } else {
      code = bits_of(low, group.low_shift, 15);
    }
    if constexpr (high_mask<format> != 0) {
      const auto* high = reinterpret_cast<const __m128i*>(group.high);
      const __m512i upper = bits_of(high, group.high_shift, high_mask<format>);
      code = _mm512_or_si512(code, _mm512_slli_epi32(upper, 4));
    }
    code = _mm512_sub_epi32(code, _mm512_set1_epi32(zero_code<format>));
    const __m512 scaled = _mm512_mul_ps(_mm512_set1_ps(group.scale), _mm512_cvtepi32_ps(code));
    return _mm512_sub_ps(scaled, _mm512_set1_ps(group.below));
  }

 private:
  [[gnu::always_inline]] static __m512i bits_of(const __m128i* from, unsigned shift, int mask) {
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(from));
    return _mm512_and_si512(_mm512_srl_epi32(wide, _mm_cvtsi32_si128(static_cast<int>(shift))),
                            _mm512_set1_epi32(mask));
  }
};

template <typename Row>
Row row_of(const QuantisedRows& weights, std::size_t index) {
  return {weights.codes + index * code_bytes(Row::kind, weights.columns),
          weights.scales + index * scales_of_row(Row::kind, weights.columns)};
}

// A row of int8 has one scale, for its sums; those of other formats stand in the weights.
template <typename Row>
float scaled_sum(const QuantisedRows& weights, std::size_t index, float sum) {
  return Row::kind == Quantisation::int8 ? weights.scales[index] * sum : sum;
}

// One token with R rows at a time from `begin` on; each block asks for the codes of the next one.
// Returns the first row that was left.
template <typename Row, std::size_t R>
std::size_t multiply_one(const QuantisedRows& weights,
                         std::size_t begin,
                         const float* x,
                         float* out) {
  const std::size_t n = weights.columns;
  const std::size_t ahead = R * code_bytes(Row::kind, n);
  for (; begin + R <= weights.rows; begin += R) {
    Row row[R];
    __m512 sums[R];
    for (std::size_t r = 0; r < R; ++r) row[r] = row_of<Row>(weights, begin + r);
    each<R>([&](auto r) { sums[r] = _mm512_setzero_ps(); });
    const auto step = [&](std::size_t i, std::size_t count) KV_INLINED {
      const __m512 here = _mm512_maskz_loadu_ps(first(count), x + i);
      if (const std::size_t at = code_bytes(Row::kind, i); at % 64 == 0) {
        for (std::size_t r = 0; r < R; ++r) ask_for(row[r].codes + ahead + at, 1);
      }
      each<R>([&](auto r)
                  KV_INLINED { sums[r] = _mm512_fmadd_ps(row[r].load(i, count), here, sums[r]); });
    };
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) step(i, 16);
    if (i < n) step(i, n - i);
    each<R>(
        [&](auto r) { out[begin + r] = scaled_sum<Row>(weights, begin + r, add_lanes(sums[r])); });
  }
  return begin;
}

template <typename Row>
void multiply_as(const QuantisedRows& weights,
                 const float* x,
                 std::size_t tokens,
                 std::size_t stride,
                 float* out) {
  const std::size_t n = weights.columns;
  if (tokens == 1) {
    multiply_one<Row, 1>(weights, multiply_one<Row, 4>(weights, 0, x, out), x, out);
    return;
  }
  float* wide = scratch_floats(rows_at_once * n);
  const auto rows_of = [&](std::size_t begin, std::size_t count) {
    for (std::size_t r = 0; r < count; ++r) {
      const Row row = row_of<Row>(weights, begin + r);
      float* to = wide + r * n;
      std::size_t i = 0;
      for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, row.load(i, 16));
      if (i < n) _mm512_mask_storeu_ps(to + i, first(n - i), row.load(i, n - i));
    }
    return static_cast<const float*>(wide);
  };
  const StoredRows stored = {weights.codes, code_bytes(Row::kind, n), weights.rows};
  dot_all(stored, rows_of, {x, tokens, n},
          [&](std::size_t t, std::size_t r, const float* sums, auto count) {
            for (std::size_t k = 0; k < count; ++k) {
              out[t * stride + r + k] = scaled_sum<Row>(weights, r + k, sums[k]);
            }
          });
}

}  // namespace

void multiply_quantised_avx512(const QuantisedRows& weights,
                               const float* x,
                               std::size_t tokens,
                               std::size_t stride,
                               float* out) {
  switch (weights.kind) {
    case Quantisation::int8:
      return multiply_as<Int8Row>(weights, x, tokens, stride, out);
    case Quantisation::nf4:
      return multiply_as<Nf4Row>(weights, x, tokens, stride, out);
    case Quantisation::q8_0:
      return multiply_as<BlockRow<Quantisation::q8_0>>(weights, x, tokens, stride, out);
    case Quantisation::q4_0:
      return multiply_as<BlockRow<Quantisation::q4_0>>(weights, x, tokens, stride, out);
    case Quantisation::q4_k:
      return multiply_as<BlockRow<Quantisation::q4_k>>(weights, x, tokens, stride, out);
    case Quantisation::q5_k:
      return multiply_as<BlockRow<Quantisation::q5_k>>(weights, x, tokens, stride, out);
    case Quantisation::q6_k:
      return multiply_as<BlockRow<Quantisation::q6_k>>(weights, x, tokens, stride, out);
    case Quantisation::none:
      return;
  }
}

}  // namespace kv::model

KV_AVX512_END
