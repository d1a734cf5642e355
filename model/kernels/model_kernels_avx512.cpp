#include <cstring>

#include "kvcheck/base/kernels/lanes_avx512.h"
#include "kvcheck/base/kernels/products_avx512.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

KV_AVX512_BEGIN

namespace kv::model {
namespace {

template <Number number>
constexpr std::size_t size_of = number == Number::f32 ? 4 : 2;

// From so many tokens on, rows of floats are copied too: mapped files rarely align them, and loads
// of two cache lines take longer.
constexpr std::size_t tokens_to_copy = 32;

// Dot products of R rows with T vectors, each in sixteen lanes of its own; one that leads asks for
// the R rows behind them, which lie there.
template <Number number, std::size_t R, std::size_t T, bool leads = false>
void dot_block(const std::byte* const (&rows)[R],
               const float* const (&x)[T],
               std::size_t n,
               float (&out)[T][R]) {
  __m512 sums[T * R];
  each<T * R>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  const auto step = [&](std::size_t i, __mmask16 live) KV_INLINED {
    __m512 here[T];
    each<T>([&](auto t) KV_INLINED { here[t] = _mm512_maskz_loadu_ps(live, x[t] + i); });
    if (leads && i * size_of<number> % 64 == 0) {
      for (std::size_t r = 0; r < R; ++r) {
        ask_for(rows[r] + (R * n + i) * size_of<number>, 1);
      }
    }
    each<R>([&](auto r) KV_INLINED {
      const __m512 row = load_wide<number>(rows[r] + i * size_of<number>, live);
      each<T>([&](auto t)
                  KV_INLINED { sums[t * R + r] = _mm512_fmadd_ps(row, here[t], sums[t * R + r]); });
    });
  };
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) step(i, 0xFFFF);
  if (i < n) step(i, first(n - i));
  each<T * R>([&](auto k) { out[k / R][k % R] = add_lanes(sums[k]); });
}

// One token with R rows at a time from `begin` on. Returns the first row that was left.
template <Number number, std::size_t R, bool leads = true>
std::size_t multiply_one(const WeightRows& weights, std::size_t begin, const float* x, float* out) {
  const std::size_t bytes = weights.columns * size_of<number>;
  for (; begin + R <= weights.rows; begin += R) {
    const std::byte* row[R];
    for (std::size_t r = 0; r < R; ++r) row[r] = weights.data + (begin + r) * bytes;
    const float* const token[1] = {x};
    float sums[1][R];
    dot_block<number, R, 1, leads>(row, token, weights.columns, sums);
    std::memcpy(out + begin, sums[0], sizeof sums[0]);
  }
  return begin;
}

template <Number number>
void widen(const std::byte* from, std::size_t n, float* to) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    _mm512_storeu_ps(to + i, load_wide<number>(from + i * size_of<number>, 0xFFFF));
  }
  const __mmask16 live = first(n - i);
  _mm512_mask_storeu_ps(to + i, live, load_wide<number>(from + i * size_of<number>, live));
}

template <Number number>
void multiply_as(
    const WeightRows& weights, const float* x, std::size_t tokens, std::size_t stride, float* out) {
  const std::size_t n = weights.columns;
  if (tokens == 1) {
    // A Zen 5 server reads floats 1.1 to 1.27 times as fast in eight rows that it prefetches by
    // itself, and halves half as fast.
    static const bool finds = number == Number::f32 && __builtin_cpu_is("amd") != 0;
    const std::size_t begin = finds ? multiply_one<number, 8, false>(weights, 0, x, out)
                                    : multiply_one<number, 4>(weights, 0, x, out);
    multiply_one<number, 1>(weights, begin, x, out);
    return;
  }
  float* wide = scratch_floats(rows_at_once * n);
  const auto rows_of = [&](std::size_t begin, std::size_t count) {
    const std::byte* from = weights.data + begin * n * size_of<number>;
    if (number == Number::f32 && tokens < tokens_to_copy) {
      return reinterpret_cast<const float*>(from);
    }
    widen<number>(from, count * n, wide);
    return static_cast<const float*>(wide);
  };
  const StoredRows stored = {weights.data, n * size_of<number>, weights.rows};
  dot_all(stored, rows_of, {x, tokens, n},
          [=](std::size_t t, std::size_t r, const float* sums, auto count) {
            std::memcpy(out + t * stride + r, sums, count * sizeof(float));
          });
}

void multiply(
    const WeightRows& weights, const float* x, std::size_t tokens, std::size_t stride, float* out) {
  if (weights.number == Number::f32) {
    multiply_as<Number::f32>(weights, x, tokens, stride, out);
  } else if (weights.number == Number::f16) {
    multiply_as<Number::f16>(weights, x, tokens, stride, out);
  } else {
    multiply_as<Number::bf16>(weights, x, tokens, stride, out);
  }
}

// What the rows `ahead` of i in the list will need soon. Always inline: see ask_for().
template <Number number>
[[gnu::always_inline]] inline void ask_ahead(const SlotRows& rows, std::size_t i) {
  constexpr std::size_t ahead = 12;
  if (i + ahead >= rows.count) return;
  const std::size_t bytes = rows.dim * size_of<number>;
  ask_for<_MM_HINT_T0>(rows.rows + rows.slots[i + ahead] * bytes, bytes);
}

// Keys R at a time; returns how many were read.
template <Number number, std::size_t R>
std::size_t logits_of(const SlotRows& keys,
                      const float* queries,
                      std::size_t heads,
                      float scale,
                      std::size_t stride,
                      float* out) {
  std::size_t begin = 0;
  for (; begin + R <= keys.count; begin += R) {
    const std::byte* row[R];
    for (std::size_t r = 0; r < R; ++r) {
      row[r] = keys.rows + keys.slots[begin + r] * keys.dim * size_of<number>;
      ask_ahead<number>(keys, begin + r);
    }
    std::size_t h = 0;
    for (; h + 2 <= heads; h += 2) {
      const float* pair[2] = {queries + h * keys.dim, queries + (h + 1) * keys.dim};
      float sums[2][R];
      dot_block<number, R, 2>(row, pair, keys.dim, sums);
      for (std::size_t r = 0; r < R; ++r) {
        out[h * stride + begin + r] = scale * sums[0][r];
        out[(h + 1) * stride + begin + r] = scale * sums[1][r];
      }
    }
    for (; h < heads; ++h) {
      const float* one[1] = {queries + h * keys.dim};
      float sums[1][R];
      dot_block<number, R, 1>(row, one, keys.dim, sums);
      for (std::size_t r = 0; r < R; ++r) out[h * stride + begin + r] = scale * sums[0][r];
    }
  }
  return begin;
}

template <Number number>
void logits_as(const SlotRows& keys,
               const float* queries,
               std::size_t heads,
               float scale,
               std::size_t stride,
               float* out) {
  const std::size_t done = logits_of<number, 8>(keys, queries, heads, scale, stride, out);
  SlotRows rest = keys;
  rest.slots += done;
  rest.count -= done;
  logits_of<number, 1>(rest, queries, heads, scale, stride, out + done);
}

void logits(const SlotRows& keys,
            const float* queries,
            std::size_t heads,
            float scale,
            std::size_t stride,
            float* out) {
  if (keys.storage == Storage::f32) {
    logits_as<Number::f32>(keys, queries, heads, scale, stride, out);
  } else if (keys.storage == Storage::f16) {
    logits_as<Number::f16>(keys, queries, heads, scale, stride, out);
  } else {
    logits_as<Number::bf16>(keys, queries, heads, scale, stride, out);
  }
}

// H heads over C blocks of sixteen columns from column j on; the sums stay in registers for all
// rows.
template <Number number, std::size_t H, std::size_t C>
void weigh_block(
    const SlotRows& values, const float* mass, std::size_t stride, std::size_t j, float* out) {
  __m512 sums[H * C];
  __mmask16 live[C];
  each<C>([&](auto c) { live[c] = first(values.dim - j - 16 * c); });
  each<H * C>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  for (std::size_t i = 0; i < values.count; ++i) {
    if (j == 0) ask_ahead<number>(values, i);
    const std::byte* row = values.rows + (values.slots[i] * values.dim + j) * size_of<number>;
    each<C>([&](auto c) {
      const __m512 here = load_wide<number>(row + 16 * c * size_of<number>, live[c]);
      each<H>([&](auto h) {
        const __m512 weight = _mm512_set1_ps(mass[h * stride + i]);
        sums[h * C + c] = _mm512_fmadd_ps(weight, here, sums[h * C + c]);
      });
    });
  }
  each<H * C>([&](auto k) {
    _mm512_mask_storeu_ps(out + k / C * values.dim + j + 16 * (k % C), live[k % C], sums[k]);
  });
}

template <Number number, std::size_t H>
void weigh_heads(const SlotRows& values, const float* mass, std::size_t stride, float* out) {
  std::size_t j = 0;
  for (; j + 48 < values.dim; j += 64) weigh_block<number, H, 4>(values, mass, stride, j, out);
  for (; j < values.dim; j += 16) weigh_block<number, H, 1>(values, mass, stride, j, out);
}

template <Number number>
void weigh_as(
    const SlotRows& values, const float* mass, std::size_t heads, std::size_t stride, float* out) {
  std::size_t h = 0;
  for (; h + 4 <= heads; h += 4) {
    weigh_heads<number, 4>(values, mass + h * stride, stride, out + h * values.dim);
  }
  for (; h + 2 <= heads; h += 2) {
    weigh_heads<number, 2>(values, mass + h * stride, stride, out + h * values.dim);
  }
  if (h < heads) weigh_heads<number, 1>(values, mass + h * stride, stride, out + h * values.dim);
}

void weigh(
    const SlotRows& values, const float* mass, std::size_t heads, std::size_t stride, float* out) {
  if (values.storage == Storage::f32) {
    weigh_as<Number::f32>(values, mass, heads, stride, out);
  } else if (values.storage == Storage::f16) {
    weigh_as<Number::f16>(values, mass, heads, stride, out);
  } else {
    weigh_as<Number::bf16>(values, mass, heads, stride, out);
  }
}

}  // namespace

const ModelKernels avx512_model_kernels = {.name = "avx512",
                                           .multiply = multiply,
                                           .multiply_quantised = multiply_quantised_avx512,
                                           .logits = logits,
                                           .weigh = weigh};

}  // namespace kv::model

KV_AVX512_END
