// Attention in one pass over keys and values, with the online softmax.
//
// Several vectors (the query heads that share a kv-head; in a prompt, those of several tokens) read
// the same rows, in tiles of 16 ranks. Per vector and tile:
//
//   logits    scale * (query . key), as in model/kernels/model_kernels.h; times the key's own scale
//             where it is int8
//   most      the largest logit so far; when it grows, sums and output are scaled by
//             exp(old - new), which is 0 at first
//   weights   exp(logit - most), by the exponential of base/kernels/kernels.h; that of rank r is
//             added to lane r mod 16; times the value's own scale where it is int8
//   out       the sum of weights times values, rows in order, products fused
//
// At the end `out` is multiplied by 1 / (the sum of the lanes, in the fixed tree), and a -0 becomes
// 0. So a result depends neither on the machine nor on which vectors are computed together, and all
// tables give the same bits.
//
// Source: Milakov & Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kvcheck/model/kernels/model_kernels.h"

namespace kv::model {

inline constexpr std::size_t attend_tile = 16;

// Numbers of scratch per vector: the lanes of its sum, and its largest logit.
inline constexpr std::size_t attend_state = 17;

// The queries for the ranks below `end`, from the end of the run before: with in-cache positions a
// query is rotated once per run (model/attention/query_rotation.h).
struct QueryRun {
  std::size_t end = 0;
  const float* queries = nullptr;  // [vectors, dim]
};

struct AttendJob {
  SlotRows keys;
  SlotRows values;                 // as many rows, of the same width and storage
  std::span<const QueryRun> runs;  // the last one ends at the number of rows
  std::size_t vectors = 0;
  const std::size_t* limits = nullptr;  // [vectors]: it sees the first so many ranks; null: all
  float scale = 1;
  float* logits = nullptr;  // [vectors, stride], written below each limit; null: not requested
  std::size_t stride = 0;
  float* state = nullptr;  // [vectors, attend_state], scratch
  float* out = nullptr;    // [vectors, dim]
};

struct AttendKernels {
  std::string_view name;

  // Requires finite numbers, and limits >= 1.
  void (*attend)(const AttendJob& job);
};

// The best for this machine, or those that KV_KERNEL names.
const AttendKernels& attend_kernels();

// All that this machine runs, best first; scalar is always last.
std::span<const AttendKernels* const> supported_attend_kernels();

}  // namespace kv::model
