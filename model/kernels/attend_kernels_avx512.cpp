#include <cstring>
#include <limits>

#include "kvcheck/model/kernels/attend_keys_avx512.h"
#include "kvcheck/model/kernels/model_kernels_detail.h"

KV_AVX512_BEGIN

namespace kv::model {
namespace {

// The logits of a vector that sees `count` rows of a tile.
__m512 seen_of(const float* weights, std::size_t count) {
  const __m512 none = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
  return _mm512_mask_loadu_ps(none, first(count), weights);
}

float largest_of(__m512 logits) {
  __m512 most = _mm512_max_ps(logits, _mm512_shuffle_f32x4(logits, logits, 0x4E));
  most = _mm512_max_ps(most, _mm512_shuffle_f32x4(most, most, 0xB1));
  most = _mm512_max_ps(most, _mm512_permute_ps(most, 0x4E));
  return _mm512_cvtss_f32(_mm512_max_ps(most, _mm512_permute_ps(most, 0xB1)));
}

// Makes weights of a tile's logits and adds them to the vector's sum.
void meet_logits(
    const AttendJob& job, std::size_t v, std::size_t begin, std::size_t count, float* weights) {
  if (job.logits != nullptr) {
    std::memcpy(job.logits + v * job.stride + begin, weights, count * sizeof(float));
  }
  const __m512 seen = seen_of(weights, count);
  float* state = job.state + v * attend_state;
  __m512 sums = _mm512_loadu_ps(state);
  const float largest = largest_of(seen);
  if (largest > state[16]) {
    const __m512 factor = exponential(_mm512_set1_ps(state[16] - largest));
    state[16] = largest;
    sums = _mm512_mul_ps(sums, factor);
    avx512_kernels.scale(job.out + v * job.keys.dim, _mm512_cvtss_f32(factor), job.keys.dim);
  }
  const __m512 added = exponential(_mm512_sub_ps(seen, _mm512_set1_ps(state[16])));
  _mm512_storeu_ps(state, _mm512_add_ps(sums, added));
  _mm512_storeu_ps(weights, added);
}

// The rows that vector t sees of the tile that begins at row `from` of the block.
template <std::size_t T>
std::size_t seen_in_tile(const Block<T>& block, std::size_t t, std::size_t from) {
  const std::size_t left = block.count[t] > from ? block.count[t] - from : 0;
  return left < attend_tile ? left : attend_tile;
}

// Makes the weights of the tile that begins at row `from` of the block, for its values.
template <Storage storage, std::size_t T>
[[gnu::always_inline]] inline void meet_tile(const AttendJob& job,
                                             std::size_t begin,
                                             std::size_t from,
                                             Block<T>& block) {
  for (std::size_t t = 0; t < T; ++t) {
    float* weights = block.weights[t] + from;
    if (const std::size_t count = seen_in_tile(block, t, from); count > 0) {
      meet_logits(job, block.at + t, begin + from, count, weights);
    } else {
      std::memset(weights, 0, attend_tile * sizeof(float));
    }
  }
  if constexpr (storage == Storage::int8) {
    for (std::size_t i = from; i < from + attend_tile && i < block.most_rows; ++i) {
      const float row_scale = job.values.scales[job.values.slots[begin + i]];
      for (std::size_t t = 0; t < T; ++t) block.weights[t][i] *= row_scale;
    }
  }
}

// Whether a later tile than the first has a logit above all before it: then the outputs of the
// tiles before have to be complete when they are scaled.
template <std::size_t T>
bool grows_later(const AttendJob& job, const Block<T>& block) {
  bool grows = false;
  for (std::size_t t = 0; t < T; ++t) {
    __m512 most = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
    for (std::size_t from = attend_tile; from < block.most_rows; from += attend_tile) {
      const std::size_t count = seen_in_tile(block, t, from);
      most = _mm512_max_ps(most, seen_of(block.weights[t] + from, count));
    }
    grows |= largest_of(most) > job.state[(block.at + t) * attend_state + 16];
  }
  return grows;
}

// Rows `from` to `end` of the block, C sixteens of columns from j on; the outputs stay in registers
// meanwhile. What a vector does not see has weight 0, and is added only where another vector of the
// block sees it: this changes nothing but -0, which divide() turns into 0 in any case.
template <Storage storage, auto level, std::size_t T, std::size_t C>
[[gnu::always_inline]] inline void meet_values(
    const AttendJob& job, std::size_t from, std::size_t end, std::size_t j, const Block<T>& block) {
  const std::size_t dim = job.values.dim;
  float* out = job.out + block.at * dim + j;
  __m512 sums[T * C];
  __mmask16 live[C];
  each<C>([&](auto c) { live[c] = C == 4 ? 0xFFFF : first(dim - j - 16 * c); });
  each<T * C>([&](auto k) {
    sums[k] = _mm512_maskz_loadu_ps(live[k % C], out + k / C * dim + 16 * (k % C));
  });
  for (std::size_t i = from; i < end; ++i) {
    if (T > 1 && block.leads) {
      ask_for<level>(block.next_keys[i] + j * size_of<storage>, C * 16 * size_of<storage>);
    }
    const std::byte* row = block.values[i] + j * size_of<storage>;
    __m512 value[C];
    each<C>([&](auto c) { value[c] = load<storage>(row + 16 * c * size_of<storage>, live[c]); });
    each<T>([&](auto t) {
      const __m512 weight = _mm512_set1_ps(block.weights[t][i]);
      each<C>(
          [&](auto c) { sums[t * C + c] = _mm512_fmadd_ps(weight, value[c], sums[t * C + c]); });
    });
  }
  each<T * C>([&](auto k) {
    _mm512_mask_storeu_ps(out + k / C * dim + 16 * (k % C), live[k % C], sums[k]);
  });
}

template <Storage storage, auto level, std::size_t T>
void meet_all_values(const AttendJob& job,
                     std::size_t from,
                     std::size_t end,
                     const Block<T>& block) {
  std::size_t j = 0;
  for (; j + 64 <= job.values.dim; j += 64) {
    meet_values<storage, level, T, 4>(job, from, end, j, block);
  }
  for (; j < job.values.dim; j += 16) {
    meet_values<storage, level, T, 1>(job, from, end, j, block);
  }
}

template <Storage storage, auto level, std::size_t T>
void meet_rows(const AttendJob& job, std::size_t begin, std::size_t most, std::size_t at) {
  Block<T> block;
  block.at = at;
  block.leads = at == 0;
  block.most_rows = 0;
  for (std::size_t t = 0; t < T; ++t) {
    const std::size_t limit = job.limits == nullptr ? job.keys.count : job.limits[at + t];
    const std::size_t left = limit > begin ? limit - begin : 0;
    block.count[t] = left < most ? left : most;
    if (block.count[t] > block.most_rows) block.most_rows = block.count[t];
  }
  if (block.most_rows == 0) return;
  for (std::size_t i = 0; i < block.most_rows; ++i) {
    block.values[i] = row_at<storage>(job.values, begin + i);
    const std::size_t next = begin + most + i;
    if (T > 1 && block.leads) {
      block.next_keys[i] = row_at<storage>(job.keys, next < job.keys.count ? next : begin);
    }
  }
  meet_keys<storage, level, T>(job, begin, block);
  meet_tile<storage, T>(job, begin, 0, block);
  const std::size_t rows = block.most_rows;
  const std::size_t together = rows > attend_tile && grows_later(job, block) ? attend_tile : rows;
  for (std::size_t from = attend_tile; from < together; from += attend_tile) {
    meet_tile<storage, T>(job, begin, from, block);
  }
  meet_all_values<storage, level, T>(job, 0, together, block);
  for (std::size_t from = together; from < rows; from += attend_tile) {
    meet_tile<storage, T>(job, begin, from, block);
    const std::size_t end = from + attend_tile;
    meet_all_values<storage, level, T>(job, from, end < rows ? end : rows, block);
  }
}

template <Storage storage, auto level>
void attend_as(const AttendJob& job) {
  // No more than 4 KB of keys: with 8 KB, contiguous rows of 16 bits took 1.09 to 1.14 of the time
  // on Zen 5.
  const std::size_t tiles = 4096 / (attend_tile * job.keys.dim * size_of<storage>);
  const std::size_t most = attend_tile * (tiles < 1 ? 1 : tiles > most_tiles ? most_tiles : tiles);
  for (std::size_t begin = 0; begin < job.keys.count; begin += most) {
    std::size_t v = 0;
    for (; v + 4 <= job.vectors; v += 4) meet_rows<storage, level, 4>(job, begin, most, v);
    for (; v + 2 <= job.vectors; v += 2) meet_rows<storage, level, 2>(job, begin, most, v);
    if (v < job.vectors) meet_rows<storage, level, 1>(job, begin, most, v);
  }
}

// Divides n outputs by the sum of the weights; adding 0 turns -0 into 0.
void divide(float* out, float sum, std::size_t n) {
  const __m512 part = _mm512_set1_ps(1.0F / sum);
  for (std::size_t j = 0; j < n; j += 16) {
    const __mmask16 live = first(n - j);
    const __m512 product = _mm512_mul_ps(_mm512_maskz_loadu_ps(live, out + j), part);
    _mm512_mask_storeu_ps(out + j, live, _mm512_add_ps(product, _mm512_setzero_ps()));
  }
}

// Zen 5 reads 1.06 to 1.67 times as fast if rows are prefetched into the first-level cache, an
// Emerald Rapids Xeon up to 1.2 times as fast if into the second. Bits do not depend on it.
template <Storage storage>
void attend_from(const AttendJob& job) {
  __builtin_cpu_is("amd") ? attend_as<storage, _MM_HINT_T0>(job)
                          : attend_as<storage, _MM_HINT_T1>(job);
}

void attend(const AttendJob& job) {
  const std::size_t dim = job.keys.dim;
  std::memset(job.out, 0, job.vectors * dim * sizeof(float));
  std::memset(job.state, 0, job.vectors * attend_state * sizeof(float));
  for (std::size_t v = 0; v < job.vectors; ++v) {
    job.state[v * attend_state + 16] = -std::numeric_limits<float>::infinity();
  }
  if (job.keys.storage == Storage::f32) {
    attend_from<Storage::f32>(job);
  } else if (job.keys.storage == Storage::f16) {
    attend_from<Storage::f16>(job);
  } else if (job.keys.storage == Storage::bf16) {
    attend_from<Storage::bf16>(job);
  } else {
    attend_from<Storage::int8>(job);
  }
  for (std::size_t v = 0; v < job.vectors; ++v) {
    divide(job.out + v * dim, add_lanes(_mm512_loadu_ps(job.state + v * attend_state)), dim);
  }
}

}  // namespace

const AttendKernels avx512_attend_kernels = {.name = "avx512", .attend = attend};

}  // namespace kv::model

KV_AVX512_END
