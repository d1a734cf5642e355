// Weights in few bits each, which kernels multiply as they are stored. int8 and nf4 are made when a
// model is opened; the others come from GGUF files (model/kernels/block_codes.h).
//
//   int8  a code from -127 to 127 per weight, times one scale per row, the row's largest weight
//         (in size) / 127. Codes are rounded to the nearest, of two to the even one.
//   nf4   one of sixteen levels per weight, times one scale per block of 64 weights of a row (the
//         last one shorter), the block's largest. The levels are quantiles of a normal
//         distribution; of two equally near the lower is taken. Weight 2 i of a row is the low half
//         of its byte i, weight 2 i + 1 the high half.
//
// Source: Dettmers, Pagnoni, Holtzman & Zettlemoyer, "QLoRA", arXiv:2305.14314, appendix E (NF4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kv::model {

// How weights are stored beside Number's ways.
enum class Quantisation { none, int8, nf4, q8_0, q4_0, q4_k, q5_k, q6_k };

// Formats in blocks: so many weights of a row are so many bytes, scales included. Rows are whole
// blocks.
struct BlockSize {
  std::size_t weights = 0;  // 0: not a format in blocks
  std::size_t bytes = 0;
};

constexpr BlockSize block_size(Quantisation kind) {
  switch (kind) {
    case Quantisation::q8_0:
      return {32, 34};
    case Quantisation::q4_0:
      return {32, 18};
    case Quantisation::q4_k:
      return {256, 144};
    case Quantisation::q5_k:
      return {256, 176};
    case Quantisation::q6_k:
      return {256, 210};
    default:
      return {};
  }
}

inline constexpr std::size_t nf4_block = 64;

inline constexpr std::array<float, 16> nf4_levels = {
    -1.0F,
    -0.6961928009986877F,
    -0.5250730514526367F,
    -0.39491748809814453F,
    -0.28444138169288635F,
    -0.18477343022823334F,
    -0.09105003625154495F,
    0.0F,
    0.07958029955625534F,
    0.16093020141124725F,
    0.24611230194568634F,
    0.33791524171829224F,
    0.44070982933044434F,
    0.5626170039176941F,
    0.7229568362236023F,
    1.0F,
};

// Bytes of one row's codes.
constexpr std::size_t code_bytes(Quantisation kind, std::size_t columns) {
  if (const BlockSize block = block_size(kind); block.weights > 0) {
    return columns / block.weights * block.bytes;
  }
  return kind == Quantisation::nf4 ? (columns + 1) / 2 : columns;
}

// Scales of one row that lie beside its codes.
constexpr std::size_t scales_of_row(Quantisation kind, std::size_t columns) {
  if (block_size(kind).weights > 0) return 0;
  return kind == Quantisation::nf4 ? (columns + nf4_block - 1) / nf4_block : 1;
}

// A matrix of weights as kernels read it: codes [rows, code_bytes], scales [rows, scales_of_row].
struct QuantisedRows {
  Quantisation kind = Quantisation::int8;
  const std::byte* codes = nullptr;
  const float* scales = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// Stores one row: codes [code_bytes], scales [scales_of_row]. Requires int8 or nf4 and finite
// weights. Where the scale is 0 (all weights are 0), the codes read as 0 too.
void quantise_row(Quantisation kind, std::span<const float> row, std::byte* codes, float* scales);

// Row `index` as kernels see it: the weights, rounded to f32; for int8 the codes alone, as kernels
// apply the row's scale to the finished sum. out [columns].
void widen_codes(const QuantisedRows& weights, std::size_t index, float* out);

}  // namespace kv::model
