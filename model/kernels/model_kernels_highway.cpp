#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/model/kernels/model_kernels_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/lanes_highway.h"
#include "kvcheck/base/kernels/products_highway.h"

#include "kvcheck/model/kernels/model_kernels_detail.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::model::HWY_NAMESPACE {
namespace {

using namespace kv::HWY_NAMESPACE;

// How many sums of sixteen lanes stay in registers: eight registers of AVX2's sixteen, sixteen of
// NEON's 32, eight of SSE4's sixteen.
constexpr std::size_t sums_at_once = HWY_TARGET == HWY_SSE4 ? 2 : 4;

// Dot products of R rows with T vectors; one that leads prefetches the R rows behind them.
template <typename Stored, std::size_t R, std::size_t T>
HWY_INLINE void dot_block(const std::byte* const (&rows)[R],
                          const float* const (&x)[T],
                          std::size_t n,
                          bool leads,
                          float (&out)[T][R]) {
  Lanes sums[T * R];
  each<T * R>([&](auto k) KV_INLINE { sums[k] = all(0); });
  by_sixteen(n, [&](std::size_t i, auto count) KV_INLINE {
    Lanes here[T];
    each<T>([&](auto t) KV_INLINE { here[t] = load(x[t] + i, count); });
    if (leads && i * sizeof(Stored) % 64 == 0) {
      for (std::size_t r = 0; r < R; ++r) {
        hwy::Prefetch(rows[r] + (R * n + i) * sizeof(Stored));
      }
    }
    each<R>([&](auto r) KV_INLINE {
      const Lanes row = load<Stored>(rows[r] + i * sizeof(Stored), count);
      each<T>([&](auto t)
                  KV_INLINE { sums[t * R + r] = multiply_add(row, here[t], sums[t * R + r]); });
    });
  });
  each<T * R>([&](auto k) KV_INLINE { out[k / R][k % R] = add_lanes(sums[k]); });
}

// One token with R rows at a time from `begin` on; each block prefetches the next one. Returns the
// first row that was left.
template <typename Stored, std::size_t R>
std::size_t multiply_one(const WeightRows& weights, std::size_t begin, const float* x, float* out) {
  const std::size_t bytes = weights.columns * sizeof(Stored);
  for (; begin + R <= weights.rows; begin += R) {
    const std::byte* rows[R];
    for (std::size_t r = 0; r < R; ++r) rows[r] = weights.data + (begin + r) * bytes;
    const float* const token[1] = {x};
    float sums[1][R];
    dot_block<Stored, R, 1>(rows, token, weights.columns, true, sums);
    for (std::size_t r = 0; r < R; ++r) out[begin + r] = sums[0][r];
  }
  return begin;
}

template <typename Stored>
void multiply_as(
    const WeightRows& weights, const float* x, std::size_t tokens, std::size_t stride, float* out) {
  const std::size_t n = weights.columns;
  if (tokens == 1) {
    multiply_one<Stored, 1>(weights, multiply_one<Stored, sums_at_once>(weights, 0, x, out), x,
                            out);
    return;
  }
  float* wide = scratch_floats(rows_at_once * n);
  const auto rows_of = [&](std::size_t begin, std::size_t count) KV_INLINE {
    const std::byte* from = weights.data + begin * n * sizeof(Stored);
    if constexpr (std::is_same_v<Stored, float>) return reinterpret_cast<const float*>(from);
    by_sixteen(count * n, [&](std::size_t i, auto live) KV_INLINE {
      store(load<Stored>(from + i * sizeof(Stored), live), wide + i, live);
    });
    return static_cast<const float*>(wide);
  };
  const auto put = [=](std::size_t t, std::size_t r, float sum)
                       KV_INLINE { out[t * stride + r] = sum; };
  dot_all(weights.rows, rows_of, x, tokens, n, put);
}

void multiply(
    const WeightRows& weights, const float* x, std::size_t tokens, std::size_t stride, float* out) {
  if (weights.number == Number::f32) {
    multiply_as<float>(weights, x, tokens, stride, out);
  } else if (weights.number == Number::f16) {
    multiply_as<hwy::float16_t>(weights, x, tokens, stride, out);
  } else {
    multiply_as<hwy::bfloat16_t>(weights, x, tokens, stride, out);
  }
}

// Prefetches the row that stands `ahead` of i in the list.
template <typename Stored>
HWY_INLINE void prefetch_ahead(const SlotRows& rows, std::size_t i) {
  constexpr std::size_t ahead = 12;
  if (i + ahead >= rows.count) return;
  const std::size_t bytes = rows.dim * sizeof(Stored);
  const std::byte* row = rows.rows + rows.slots[i + ahead] * bytes;
  for (std::size_t line = 0; line < bytes; line += 64) hwy::Prefetch(row + line);
}

template <typename Stored>
void logits_as(const SlotRows& keys,
               const float* queries,
               std::size_t heads,
               float scale,
               std::size_t stride,
               float* out) {
  for (std::size_t i = 0; i < keys.count; ++i) {
    prefetch_ahead<Stored>(keys, i);
    const std::byte* row[1] = {keys.rows + keys.slots[i] * keys.dim * sizeof(Stored)};
    const auto some = [&]<std::size_t T>(std::size_t h, std::integral_constant<std::size_t, T>)
                          KV_INLINE {
                            const float* query[T];
                            for (std::size_t t = 0; t < T; ++t)
                              query[t] = queries + (h + t) * keys.dim;
                            float sums[T][1];
                            dot_block<Stored, 1, T>(row, query, keys.dim, false, sums);
                            for (std::size_t t = 0; t < T; ++t)
                              out[(h + t) * stride + i] = scale * sums[t][0];
                          };
    std::size_t h = 0;
    for (; h + sums_at_once <= heads; h += sums_at_once) {
      some(h, std::integral_constant<std::size_t, sums_at_once>());
    }
    for (; h < heads; ++h) some(h, std::integral_constant<std::size_t, 1>());
  }
}

void logits(const SlotRows& keys,
            const float* queries,
            std::size_t heads,
            float scale,
            std::size_t stride,
            float* out) {
  if (keys.storage == Storage::f32) {
    logits_as<float>(keys, queries, heads, scale, stride, out);
  } else if (keys.storage == Storage::f16) {
    logits_as<hwy::float16_t>(keys, queries, heads, scale, stride, out);
  } else {
    logits_as<hwy::bfloat16_t>(keys, queries, heads, scale, stride, out);
  }
}

// H heads over C sixteens of columns from column j on, of which the last has `count`. The sums stay
// in registers for all rows.
template <typename Stored, std::size_t H, std::size_t C, typename Count>
HWY_INLINE void weigh_columns(const SlotRows& values,
                              const float* mass,
                              std::size_t stride,
                              std::size_t j,
                              Count count,
                              float* out) {
  Lanes sums[H * C];
  each<H * C>([&](auto k) KV_INLINE { sums[k] = all(0); });
  for (std::size_t i = 0; i < values.count; ++i) {
    if (j == 0) prefetch_ahead<Stored>(values, i);
    const std::byte* row = values.rows + (values.slots[i] * values.dim + j) * sizeof(Stored);
    each<C>([&](auto c) KV_INLINE {
      const Lanes here = load<Stored>(row + 16 * c * sizeof(Stored), count);
      each<H>([&](auto h) KV_INLINE {
        const Lanes weight = all(mass[h * stride + i]);
        sums[h * C + c] = multiply_add(weight, here, sums[h * C + c]);
      });
    });
  }
  each<H * C>([&](auto k) KV_INLINE {
    store(sums[k], out + k / C * values.dim + j + 16 * (k % C), count);
  });
}

template <typename Stored, std::size_t H>
void weigh_heads(const SlotRows& values, const float* mass, std::size_t stride, float* out) {
  constexpr std::size_t C = sums_at_once / H;
  std::size_t j = 0;
  for (; j + 16 * C <= values.dim; j += 16 * C) {
    weigh_columns<Stored, H, C>(values, mass, stride, j, Sixteen(), out);
  }
  if constexpr (C > 1) {
    for (; j + 16 <= values.dim; j += 16) {
      weigh_columns<Stored, H, 1>(values, mass, stride, j, Sixteen(), out);
    }
  }
  if (j < values.dim) {
    weigh_columns<Stored, H, 1>(values, mass, stride, j, values.dim - j, out);
  }
}

template <typename Stored>
void weigh_as(
    const SlotRows& values, const float* mass, std::size_t heads, std::size_t stride, float* out) {
  std::size_t h = 0;
  for (; h + sums_at_once <= heads; h += sums_at_once) {
    weigh_heads<Stored, sums_at_once>(values, mass + h * stride, stride, out + h * values.dim);
  }
  for (; h < heads; ++h) {
    weigh_heads<Stored, 1>(values, mass + h * stride, stride, out + h * values.dim);
  }
}

void weigh(
    const SlotRows& values, const float* mass, std::size_t heads, std::size_t stride, float* out) {
  if (values.storage == Storage::f32) {
    weigh_as<float>(values, mass, heads, stride, out);
  } else if (values.storage == Storage::f16) {
    weigh_as<hwy::float16_t>(values, mass, heads, stride, out);
  } else {
    weigh_as<hwy::bfloat16_t>(values, mass, heads, stride, out);
  }
}

}  // namespace

void put_model(ModelKernels& table) {
  table.multiply = multiply;
  table.logits = logits;
  table.weigh = weigh;
}

}  // namespace kv::model::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv::model {

void put_highway_model(Target target, ModelKernels& table) {
  KV_OF_TARGET(target, put_model)(table);
  put_highway_quantised(target, table);
}

}  // namespace kv::model
#endif
