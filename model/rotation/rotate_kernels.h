// Rotating stored keys in place: what shifting them in a cache needs.
//
// A row of `dim` numbers holds `pairs` pairs, laid out as Rope says; numbers beyond them are not
// changed. Each pair (x, y) becomes (x cos - y sin, x sin + y cos), all rows by the same angles,
// and is rounded to the storage again: n rotations round n times. The numbers must be finite.
//
// There are two arithmetics. In f32, products are rounded before they are added, unlike those of
// model/kernels/model_kernels.h, which are fused into their sums. In f16 (for f16 storage only),
// angles are stored in f16 too and the first product of a sum is rounded to f16, the second one
// fused into it: what one complex multiplication of AVX512-FP16 does. Where the machine has no such
// instruction an emulation gives the same bits, so the arithmetic is the caller's choice and never
// the machine's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/traces/rope_layout.h"

namespace kv::model {

// Rows of one kv-head's keys, to be written.
struct RotatedRows {
  std::byte* rows = nullptr;
  std::size_t dim = 0;
  const std::uint32_t* slots = nullptr;  // [count]: which rows, each once
  std::size_t count = 0;
  RopeLayout layout = RopeLayout::half;
  std::size_t pairs = 0;  // 2 * pairs <= dim
};

struct RotateKernels {
  std::string_view name;

  // cosines and sines [pairs].
  void (*rotate)(Number number, const RotatedRows& rows, const float* cosines, const float* sines);

  // Rows of f16; cosine and sine of each pair, in f16, one after the other: rotations [2 * pairs].
  void (*rotate_f16)(const RotatedRows& rows, const std::uint16_t* rotations);

  // Whether rotate_f16 is the instruction or its emulation.
  bool complex_instruction = false;
};

// The best for this machine, or those that KV_KERNEL names.
const RotateKernels& rotate_kernels();

// All that this machine runs, best first; scalar is always last. The best may be an "avx512-fp16"
// that differs from "avx512" only in rotate_f16.
std::span<const RotateKernels* const> supported_rotate_kernels();

}  // namespace kv::model
