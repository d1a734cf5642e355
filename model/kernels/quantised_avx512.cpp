#include <cstring>

#include "kvcheck/base/kernels/lanes_avx512.h"
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
  // code down. The look-up reads the low four bits only.
  [[nodiscard, gnu::always_inline]] __m512 load(std::size_t i, std::size_t count) const {
    const auto live = static_cast<__mmask16>((1U << (count + 1) / 2) - 1);
    const __m128i bytes = _mm_maskz_loadu_epi8(live, codes + i / 2);
    const __m512i spread = _mm512_set_epi32(1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i shifts =
        _mm512_set_epi32(28, 24, 20, 16, 12, 8, 4, 0, 28, 24, 20, 16, 12, 8, 4, 0);
    const __m512i halves = _mm512_permutexvar_epi32(spread, _mm512_castsi128_si512(bytes));
    const __m512 levels = _mm512_permutexvar_ps(_mm512_srlv_epi32(halves, shifts),
                                                _mm512_loadu_ps(nf4_levels.data()));
    return _mm512_mul_ps(levels, _mm512_set1_ps(scales[i / nf4_block]));
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

// R rows with T tokens, summed in the order of model/kernels/model_kernels.h. A row of int8 has one
// scale, for its sums; nf4's stand in the weights. A block that leads asks for the codes of the R
// rows behind it.
template <typename Row, std::size_t R, std::size_t T, bool leads>
void block(const Row (&row)[R], const float* const (&x)[T], std::size_t n, float (&out)[T][R]) {
  __m512 sums[T * R];
  each<T * R>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    __m512 here[T];
    each<T>([&](auto t) { here[t] = _mm512_loadu_ps(x[t] + i); });
    if (const std::size_t at = code_bytes(Row::kind, i); leads && at % 64 == 0) {
      for (std::size_t r = 0; r < R; ++r) {
        ask_for(row[r].codes + R * code_bytes(Row::kind, n) + at, 1);
      }
    }
    each<R>([&](auto r) {
      const __m512 weights = row[r].load(i, 16);
      each<T>([&](auto t) {
        sums[t * R + r] = _mm512_add_ps(sums[t * R + r], _mm512_mul_ps(weights, here[t]));
      });
    });
  }
  if (i < n) {
    const __mmask16 live = first(n - i);
    each<R>([&](auto r) {
      const __m512 weights = row[r].load(i, n - i);
      each<T>([&](auto t) {
        const __m512 product = _mm512_mul_ps(weights, _mm512_maskz_loadu_ps(live, x[t] + i));
        sums[t * R + r] = _mm512_mask_add_ps(sums[t * R + r], live, sums[t * R + r], product);
      });
    });
  }
  each<T * R>([&](auto k) {
    const float sum = add_lanes(sums[k]);
    out[k / R][k % R] = Row::kind == Quantisation::int8 ? row[k % R].scales[0] * sum : sum;
  });
}

template <typename Row, std::size_t R, std::size_t T, bool leads>
void multiply_block(const QuantisedRows& weights,
                    std::size_t begin,
                    const float* x,
                    std::size_t stride,
                    float* out) {
  const std::size_t bytes = code_bytes(Row::kind, weights.columns);
  const std::size_t scales = scales_of_row(Row::kind, weights.columns);
  Row row[R];
  const float* token[T];
  float sums[T][R];
  for (std::size_t r = 0; r < R; ++r) {
    row[r] = {weights.codes + (begin + r) * bytes, weights.scales + (begin + r) * scales};
  }
  for (std::size_t t = 0; t < T; ++t) token[t] = x + t * weights.columns;
  block<Row, R, T, leads>(row, token, weights.columns, sums);
  for (std::size_t t = 0; t < T; ++t) {
    std::memcpy(out + t * stride + begin, sums[t], sizeof sums[t]);
  }
}

// Rows by R at a time; within them tokens by four, so that rows come from memory once.
template <typename Row, std::size_t R>
std::size_t multiply_rows(const QuantisedRows& weights,
                          std::size_t begin,
                          const float* x,
                          std::size_t tokens,
                          std::size_t stride,
                          float* out) {
  for (; begin + R <= weights.rows; begin += R) {
    const auto some = [&]<std::size_t T, bool leads>(std::size_t t) {
      multiply_block<Row, R, T, leads>(weights, begin, x + t * weights.columns, stride,
                                       out + t * stride);
    };
    tokens_by_four(tokens, some);
  }
  return begin;
}

template <typename Row>
void multiply_as(const QuantisedRows& weights,
                 const float* x,
                 std::size_t tokens,
                 std::size_t stride,
                 float* out) {
  const std::size_t done = multiply_rows<Row, 4>(weights, 0, x, tokens, stride, out);
  multiply_rows<Row, 1>(weights, done, x, tokens, stride, out);
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
