#include "kvcheck/base/kernels/targets_highway.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kvcheck/model/kernels/attend_kernels_highway.cpp"
#include <hwy/foreach_target.h>

#include "kvcheck/base/kernels/fused_highway.h"
#include "kvcheck/base/kernels/lanes_highway.h"

#include <algorithm>
#include <limits>

#include "kvcheck/model/kernels/model_kernels_detail.h"

#if KV_HAS_LANES
HWY_BEFORE_NAMESPACE();

namespace kv::model::HWY_NAMESPACE {
namespace {

using namespace kv::HWY_NAMESPACE;

// Vectors that are computed together, at most. Without fused multiply-adds the arithmetic takes all
// the time, so that sharing the loads would only make the code longer.
constexpr std::size_t most_vectors = HWY_NATIVE_FMA ? 4 : 1;

// Sixteens of columns whose sums for T vectors stay in registers together: eight of AVX2's, or
// sixteen of NEON's.
template <std::size_t T>
constexpr std::size_t columns_at_once = most_vectors / T;

// Rows whose products with T vectors are computed together, one register of their lanes at a time.
template <std::size_t T>
constexpr std::size_t rows_at_once = most_vectors == 1 ? 1
                                                       : std::min<std::size_t>(4, parts * 4 / T);

template <typename Stored>
HWY_INLINE const std::byte* row_at(const SlotRows& rows, std::size_t i) {
  return rows.rows + rows.slots[i] * rows.dim * sizeof(Stored);
}

// T vectors at work on one tile. While its keys are read, its values are prefetched, and while
// those are read, the next tile's keys: a little at every step, so that memory is never idle.
template <std::size_t T>
struct Block {
  std::size_t at;                             // the first vector
  bool leads;                                 // prefetches what comes next
  std::size_t count[T];                       // rows that each sees of the tile
  std::size_t most_rows;                      // the largest of them
  alignas(64) float weights[T][attend_tile];  // logits, then weights
};

// The products of R keys from rank i on with T queries: sums[16 * t + r] are those of row r and
// vector t, in lanes. One register of the lanes after the other, so that more rows and vectors fit
// beside each other and a number that is loaded meets several.
template <typename Stored, std::size_t R, std::size_t T>
HWY_INLINE void dots(
    const AttendJob& job, const float* queries, std::size_t i, bool leads, Lanes* sums) {
  const std::size_t dim = job.keys.dim;
  const std::size_t whole = dim - dim % 16;
  const std::byte* keys[R];
  const std::byte* values[R];
  for (std::size_t r = 0; r < R; ++r) {
    keys[r] = row_at<Stored>(job.keys, i + r);
    values[r] = row_at<Stored>(job.values, i + r);
  }
  each<parts>([&](auto p) KV_INLINE {
    Register here[R * T];
    each<R * T>([&](auto k) KV_INLINE { here[k] = hn::Zero(Floats()); });
    for (std::size_t j = 0; j < whole; j += 16) {
      Register query[T];
      const float* from = queries + j + p * width;
      each<T>([&](auto t) KV_INLINE { query[t] = hn::LoadU(Floats(), from + t * dim); });
      if (p == 0 && leads && j * sizeof(Stored) % 64 == 0) {
        for (std::size_t r = 0; r < R; ++r) hwy::Prefetch(values[r] + j * sizeof(Stored));
      }
      each<R>([&](auto r) KV_INLINE {
        const auto* stored = reinterpret_cast<const Raw<Stored>*>(keys[r]) + j + p * width;
        const Register key = widened<Stored>(hn::LoadU(RawTag<Stored>(), stored));
        each<T>([&](auto t) KV_INLINE { here[r * T + t] = fused(query[t], key, here[r * T + t]); });
      });
    }
    each<R * T>([&](auto k) KV_INLINE { sums[16 * (k % T) + k / T].part[p] = here[k]; });
  });
  if (whole == dim) return;
  each<R>([&](auto r) KV_INLINE {
    const Lanes key = load<Stored>(keys[r] + whole * sizeof(Stored), dim - whole);
    each<T>([&](auto t) KV_INLINE {
      const Lanes query = load(queries + t * dim + whole, dim - whole);
      sums[16 * t + r] = multiply_add(query, key, sums[16 * t + r]);
    });
  });
}

// Logits of the tile's rows for block.weights. Those beyond the last row are of no meaning.
template <typename Stored, std::size_t T>
HWY_INLINE void meet_keys(const AttendJob& job, std::size_t begin, Block<T>& block) {
  constexpr std::size_t R = rows_at_once<T>;
  Lanes sums[T * attend_tile];
  if (block.most_rows < attend_tile) {
    for (Lanes& sum : sums) sum = all(0);
  }
  const QueryRun* run = job.runs.data();
  for (std::size_t i = 0; i < block.most_rows;) {
    while (begin + i >= run->end) ++run;
    const std::size_t end = std::min(block.most_rows, run->end - begin);
    const float* queries = run->queries + block.at * job.keys.dim;
    for (; i + R <= end; i += R) {
      dots<Stored, R, T>(job, queries, begin + i, block.leads, sums + i);
    }
    for (; i < end; ++i) dots<Stored, 1, T>(job, queries, begin + i, block.leads, sums + i);
  }
  Lanes row_scales = all(1);
  if constexpr (std::is_same_v<Stored, std::int8_t>) {
    float scales[attend_tile] = {};
    for (std::size_t i = 0; i < block.most_rows; ++i) {
      scales[i] = job.keys.scales[job.keys.slots[begin + i]];
    }
    row_scales = load(scales);
  }
  for (std::size_t t = 0; t < T; ++t) {
    Lanes logits = multiply(all(job.scale), add_all_lanes(sums + attend_tile * t));
    if constexpr (std::is_same_v<Stored, std::int8_t>) logits = multiply(logits, row_scales);
    store(logits, block.weights[t]);
  }
}

HWY_INLINE void scale(float* values, const Lanes& factor, std::size_t n) {
  by_sixteen(n, [&](std::size_t i, auto count) KV_INLINE {
    store(multiply(load(values + i, count), factor), values + i, count);
  });
}

// Makes weights of the tile's logits and adds them to the vector's sum.
HWY_INLINE void meet_logits(
    const AttendJob& job, std::size_t v, std::size_t begin, std::size_t count, float* weights) {
  if (job.logits != nullptr) {
    std::memcpy(job.logits + v * job.stride + begin, weights, count * sizeof(float));
  }
  std::fill(weights + count, weights + attend_tile, -std::numeric_limits<float>::infinity());
  const Lanes seen = load(weights);
  float* state = job.state + v * attend_state;
  Lanes sums = load(state);
  const float largest = largest_lane(seen);
  if (largest > state[16]) {
    const Lanes factor = exponential(all(state[16] - largest));
    state[16] = largest;
    sums = multiply(sums, factor);
    scale(job.out + v * job.keys.dim, factor, job.keys.dim);
  }
  const Lanes added = exponential(subtract(seen, all(state[16])));
  store(add(sums, added), state);
  store(added, weights);
}

// C sixteens of columns from j on, of which the last has `count`; the outputs stay in registers for
// the whole tile. What a vector does not see has weight 0, and is added only where another vector
// of the block sees it: this changes nothing but -0, which divide() turns into 0 in any case.
template <typename Stored, std::size_t T, std::size_t C, typename Count>
HWY_INLINE void meet_values(
    const AttendJob& job, std::size_t begin, std::size_t j, Count count, const Block<T>& block) {
  const std::size_t dim = job.values.dim;
  float* out = job.out + block.at * dim + j;
  Lanes sums[T * C];
  each<T * C>([&](auto k) KV_INLINE { sums[k] = load(out + k / C * dim + 16 * (k % C), count); });
  for (std::size_t i = 0; i < block.most_rows; ++i) {
    if (const std::size_t next = begin + attend_tile + i; block.leads && next < job.keys.count) {
      const std::byte* key = row_at<Stored>(job.keys, next) + j * sizeof(Stored);
      for (std::size_t line = 0; line < C * 16 * sizeof(Stored); line += 64) {
        hwy::Prefetch(key + line);
      }
    }
    const std::byte* row = row_at<Stored>(job.values, begin + i) + j * sizeof(Stored);
    Lanes value[C];
    each<C>([&](auto c)
                KV_INLINE { value[c] = load<Stored>(row + 16 * c * sizeof(Stored), count); });
    each<T>([&](auto t) KV_INLINE {
      const Lanes weight = all(block.weights[t][i]);
      each<C>([&](auto c)
                  KV_INLINE { sums[t * C + c] = multiply_add(weight, value[c], sums[t * C + c]); });
    });
  }
  each<T * C>([&](auto k) KV_INLINE { store(sums[k], out + k / C * dim + 16 * (k % C), count); });
}

template <typename Stored, std::size_t T>
HWY_INLINE void meet_all_values(const AttendJob& job, std::size_t begin, const Block<T>& block) {
  constexpr std::size_t C = columns_at_once<T>;
  const std::size_t dim = job.values.dim;
  std::size_t j = 0;
  for (; j + 16 * C <= dim; j += 16 * C) {
    meet_values<Stored, T, C>(job, begin, j, Sixteen(), block);
  }
  if constexpr (C > 1) {
    for (; j + 16 <= dim; j += 16) meet_values<Stored, T, 1>(job, begin, j, Sixteen(), block);
  }
  if (j < dim) meet_values<Stored, T, 1>(job, begin, j, dim - j, block);
}

template <typename Stored, std::size_t T>
void meet_tile(const AttendJob& job, std::size_t begin, std::size_t at) {
  Block<T> block;
  block.at = at;
  block.leads = at == 0;
  block.most_rows = 0;
  for (std::size_t t = 0; t < T; ++t) {
    const std::size_t limit = job.limits == nullptr ? job.keys.count : job.limits[at + t];
    block.count[t] = limit > begin ? std::min(limit - begin, attend_tile) : 0;
    block.most_rows = std::max(block.most_rows, block.count[t]);
  }
  if (block.most_rows == 0) return;
  meet_keys<Stored, T>(job, begin, block);
  for (std::size_t t = 0; t < T; ++t) {
    if (block.count[t] > 0) {
      meet_logits(job, at + t, begin, block.count[t], block.weights[t]);
    } else {
      std::fill_n(block.weights[t], attend_tile, 0.0F);
    }
  }
  if constexpr (std::is_same_v<Stored, std::int8_t>) {
    for (std::size_t i = 0; i < block.most_rows; ++i) {
      const float row_scale = job.values.scales[job.values.slots[begin + i]];
      for (std::size_t t = 0; t < T; ++t) block.weights[t][i] *= row_scale;
    }
  }
  meet_all_values<Stored, T>(job, begin, block);
}

template <typename Stored>
void attend_as(const AttendJob& job) {
  for (std::size_t begin = 0; begin < job.keys.count; begin += attend_tile) {
    std::size_t v = 0;
    if constexpr (most_vectors == 4) {
      for (; v + 4 <= job.vectors; v += 4) meet_tile<Stored, 4>(job, begin, v);
      for (; v + 2 <= job.vectors; v += 2) meet_tile<Stored, 2>(job, begin, v);
    }
    for (; v < job.vectors; ++v) meet_tile<Stored, 1>(job, begin, v);
  }
}

// Divides n outputs by the sum of the weights; adding 0 turns -0 into 0.
void divide(float* out, float sum, std::size_t n) {
  const Lanes part = all(1.0F / sum);
  by_sixteen(n, [=](std::size_t j, auto count) KV_INLINE {
    store(add(multiply(load(out + j, count), part), all(0)), out + j, count);
  });
}

void attend(const AttendJob& job) {
  const std::size_t dim = job.keys.dim;
  std::fill_n(job.out, job.vectors * dim, 0.0F);
  std::fill_n(job.state, job.vectors * attend_state, 0.0F);
  for (std::size_t v = 0; v < job.vectors; ++v) {
    job.state[v * attend_state + 16] = -std::numeric_limits<float>::infinity();
  }
  if (job.keys.storage == Storage::f32) {
    attend_as<float>(job);
  } else if (job.keys.storage == Storage::f16) {
    attend_as<hwy::float16_t>(job);
  } else if (job.keys.storage == Storage::bf16) {
    attend_as<hwy::bfloat16_t>(job);
  } else {
    attend_as<std::int8_t>(job);
  }
  for (std::size_t v = 0; v < job.vectors; ++v) {
    divide(job.out + v * dim, add_lanes(load(job.state + v * attend_state)), dim);
  }
}

}  // namespace

void put_attend(AttendKernels& table) {
  table.attend = attend;
}

}  // namespace kv::model::HWY_NAMESPACE

HWY_AFTER_NAMESPACE();
#endif  // KV_HAS_LANES

#if HWY_ONCE
namespace kv::model {

void put_highway_attend(Target target, AttendKernels& table) {
  KV_OF_TARGET(target, put_attend)(table);
}

}  // namespace kv::model
#endif
