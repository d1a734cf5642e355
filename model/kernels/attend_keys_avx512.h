// The products of keys with the vectors that attend to them, for AVX-512.
//
// Only *_avx512.cpp may include this header: everything in it is compiled for AVX-512 and internal
// to the source that includes it.
#pragma once

#include <cstddef>

#include "kvcheck/base/kernels/lanes_avx512.h"
#include "kvcheck/model/kernels/attend_kernels.h"

KV_AVX512_BEGIN

namespace kv::model {
namespace {

template <Storage storage>
constexpr std::size_t size_of = bytes_of(storage);

template <Storage storage>
__m512 load(const std::byte* bytes, __mmask16 live) {
  if constexpr (storage == Storage::int8) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(live, bytes)));
  } else {
    return load_wide<static_cast<Number>(storage)>(bytes, live);
  }
}

template <Storage storage>
const std::byte* row_at(const SlotRows& rows, std::size_t i) {
  return rows.rows + rows.slots[i] * rows.dim * size_of<storage>;
}

// How many rows ahead a single vector prefetches keys and values: enough to keep memory busy also
// where neighbours are in scattered slots.
constexpr std::size_t ahead = 24;

// Several tiles are read at a time: what the exponentials of one wait for is hidden behind the work
// for the others.
constexpr std::size_t most_tiles = 4;
constexpr std::size_t most_at_once = most_tiles * attend_tile;

// T vectors at work on some rows. Several vectors prefetch their values while their keys are read,
// and the keys that follow while those are read: a little at every step, so that memory is never
// idle.
template <std::size_t T>
struct Block {
  std::size_t at;                              // the first vector
  bool leads;                                  // asks for what comes next
  std::size_t count[T];                        // rows that each sees
  std::size_t most_rows;                       // the largest of them
  alignas(64) float weights[T][most_at_once];  // logits, then weights
  const std::byte* values[most_at_once];
  const std::byte* next_keys[most_at_once];
};

// The products of 16 / T rows from rank i on, of which `rows` exist, with T vectors. Those of row r
// and vector t are to be number t * 16 / T + r of the result of add_all_lanes().
template <Storage storage, auto level, std::size_t T>
[[gnu::always_inline]] inline void products(const AttendJob& job,
                                            const float* queries,
                                            std::size_t i,
                                            std::size_t rows,
                                            const std::byte* const* values,
                                            __m512 (&sums)[16]) {
  constexpr std::size_t at_once = 16 / T;
  const std::size_t dim = job.keys.dim;
  const std::byte* row[at_once];
  each<at_once>([&](auto r) { row[r] = row_at<storage>(job.keys, i + (r < rows ? r : 0)); });
  const auto step = [&](std::size_t j, __mmask16 live) KV_INLINED {
    __m512 here[T];
    each<T>([&](auto t) { here[t] = _mm512_maskz_loadu_ps(live, queries + t * dim + j); });
    if (values != nullptr && j * size_of<storage> % 64 == 0) {
      for (std::size_t r = 0; r < at_once; ++r) ask_for<level>(values[r] + j * size_of<storage>, 1);
    }
    each<at_once>([&](auto r) {
      const __m512 key = load<storage>(row[r] + j * size_of<storage>, live);
      each<T>([&](auto t) {
        constexpr std::size_t requested = t * at_once + r;
        constexpr std::size_t at = 4 * (requested % 4) + requested / 4;
        sums[at] = _mm512_fmadd_ps(here[t], key, sums[at]);
      });
    });
  };
  std::size_t j = 0;
  for (; j + 16 <= dim; j += 16) step(j, 0xFFFF);
  if (j < dim) step(j, first(dim - j));
}

// The same for a single vector. It takes one row after the other, as memory prefers: in f16 1.5
// times as fast as columns on Zen 5, and up to 1.3 times in scattered slots on an Emerald Rapids.
template <Storage storage, auto level>
[[gnu::always_inline]] inline void products_in_order(const AttendJob& job,
                                                     const float* query,
                                                     std::size_t i,
                                                     std::size_t rows,
                                                     bool leads,
                                                     __m512 (&sums)[16]) {
  const std::size_t dim = job.keys.dim;
  const bool asks = leads && i + ahead < job.keys.count;  // else no row is left to ask for
  each<16>([&](auto r) {
    constexpr std::size_t at = 4 * (r % 4) + r / 4;
    if (asks && r < rows) {
      const std::size_t next = i + r + ahead < job.keys.count ? i + r + ahead : job.keys.count - 1;
      ask_for<level>(row_at<storage>(job.keys, next), dim * size_of<storage>);
      ask_for<level>(row_at<storage>(job.values, next), dim * size_of<storage>);
    }
    const std::byte* row = row_at<storage>(job.keys, i + (r < rows ? r : 0));
    const auto step = [&](std::size_t j, __mmask16 live) KV_INLINED {
      sums[at] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(live, query + j),
                                 load<storage>(row + j * size_of<storage>, live), sums[at]);
    };
    std::size_t j = 0;
    for (; j + 16 <= dim; j += 16) step(j, 0xFFFF);
    if (j < dim) step(j, first(dim - j));
  });
}

// 16 / T rows from rank i on, of which `rows` exist, with T vectors: logits for weights[.][i -
// begin].
template <Storage storage, auto level, std::size_t T>
void dots(const AttendJob& job,
          const float* queries,
          std::size_t i,
          std::size_t rows,
          std::size_t begin,
          Block<T>& block) {
  constexpr std::size_t at_once = 16 / T;
  const float* first_query = queries + block.at * job.keys.dim;
  __m512 sums[16];
  each<16>([&](auto k) { sums[k] = _mm512_setzero_ps(); });
  if constexpr (T == 1) {
    products_in_order<storage, level>(job, first_query, i, rows, block.leads, sums);
  } else {
    const std::byte* const* values = block.leads ? block.values + (i - begin) : nullptr;
    products<storage, level, T>(job, first_query, i, rows, values, sums);
  }
  __m512 logits = _mm512_mul_ps(_mm512_set1_ps(job.scale), add_all_lanes(sums));
  if constexpr (storage == Storage::int8) {
    alignas(64) float scales[16] = {};
    for (std::size_t r = 0; r < rows; ++r) {
      const float row_scale = job.keys.scales[job.keys.slots[i + r]];
      for (std::size_t t = 0; t < T; ++t) scales[t * at_once + r] = row_scale;
    }
    logits = _mm512_mul_ps(logits, _mm512_load_ps(scales));
  }
  float* to = block.weights[0] + (i - begin);
  if (rows < at_once) {
    alignas(64) float all[16];
    _mm512_store_ps(all, logits);
    each<T>([&](auto t) {
      const __m512 own = _mm512_maskz_loadu_ps(first(rows), all + t * at_once);
      _mm512_mask_storeu_ps(to + t * most_at_once, first(rows), own);
    });
    return;
  }
  if constexpr (T == 1) _mm512_storeu_ps(to, logits);
  if constexpr (T == 2) {
    _mm256_storeu_ps(to, _mm512_castps512_ps256(logits));
    _mm256_storeu_ps(to + most_at_once, _mm512_extractf32x8_ps(logits, 1));
  }
  if constexpr (T == 4) {
    each<T>(
        [&](auto t) { _mm_storeu_ps(to + t * most_at_once, _mm512_extractf32x4_ps(logits, t)); });
  }
}

template <Storage storage, auto level, std::size_t T>
void meet_keys(const AttendJob& job, std::size_t begin, Block<T>& block) {
  constexpr std::size_t at_once = 16 / T;
  const std::size_t end = begin + block.most_rows;
  const QueryRun* run = job.runs.data();
  for (std::size_t i = begin; i < end;) {
    while (i >= run->end) ++run;
    const std::size_t stop = run->end < end ? run->end : end;
    const std::size_t rows = stop - i < at_once ? stop - i : at_once;
    dots<storage, level, T>(job, run->queries, i, rows, begin, block);
    i += rows;
  }
}

}  // namespace
}  // namespace kv::model

KV_AVX512_END
