// Quantised weights of GGUF files: rows of blocks, each with its scales.
//
//   q8_0  32 weights: a scale d (f16); codes of 8 bits, signed. d * code
//   q4_0  32 weights: d; codes of 4 bits. d * (code - 8)
//   q4_k  256 weights in 8 groups of 32: d and m (f16); a scale and a minimum of 6 bits per group;
//         codes of 4 bits. d * scale * code - m * minimum
//   q5_k  the same with codes of 5 bits
//   q6_k  256 weights in 16 groups of 16: codes of 6 bits; scales of 8 bits, signed; d.
//         d * scale * (code - 32)
//
// The products are exact in f32, so a weight is rounded at most once, when the minimum is taken
// off.
//
// Source: the structs block_q8_0 to block_q6_K of ggml (github.com/ggml-org/ggml) and what its
// functions dequantize_row_* read in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvcheck/base/half.h"
#include "kvcheck/model/kernels/quantised.h"

namespace kv::model {

// Sixteen weights beside each other: weight j is scale * (code - zero_code) - below, its code made
// of bits of low[j] and, above them, of high[j].
struct BlockGroup {
  const std::byte* low = nullptr;
  const std::byte* high = nullptr;
  unsigned low_shift = 0;
  unsigned high_shift = 0;
  float scale = 0;
  float below = 0;
};

// The bits of a code above its lowest four.
template <Quantisation kind>
inline constexpr int high_mask = kind == Quantisation::q5_k   ? 1
                                 : kind == Quantisation::q6_k ? 3
                                                              : 0;

// The code of a weight of 0.
template <Quantisation kind>
inline constexpr int zero_code = kind == Quantisation::q4_0   ? 8
                                 : kind == Quantisation::q6_k ? 32
                                                              : 0;

// Always inline, as the functions below, so that code for AVX-512 leaves no copy that the linker
// could use elsewhere.
[[gnu::always_inline]] inline float half_at(const std::byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return f16_to_f32(bits);
}

// The scale and the minimum of group `index` of a q4_k or q5_k block. The lower six bits of bytes 0
// to 3 and 4 to 7 are those of the first four groups; the others' lower four bits are in bytes 8 to
// 11, and their upper two at the top of the first eight.
[[gnu::always_inline]] inline void read_group_scales(const std::byte* block,
                                                     std::size_t index,
                                                     BlockGroup& group) {
  const std::byte* bytes = block + 4;
  auto scale = static_cast<unsigned>(bytes[index % 4]) & 63U;
  auto minimum = static_cast<unsigned>(bytes[index % 4 + 4]) & 63U;
  if (index >= 4) {
    const auto both = static_cast<unsigned>(bytes[index + 4]);
    scale = (both & 15U) | static_cast<unsigned>(bytes[index - 4]) >> 6U << 4U;
    minimum = both >> 4U | static_cast<unsigned>(bytes[index]) >> 6U << 4U;
  }
  group.scale = half_at(block) * static_cast<float>(scale);
  group.below = half_at(block + 2) * static_cast<float>(minimum);
}

// The weights from `at` on. Requires a multiple of 16 below the block's number of weights.
template <Quantisation kind>
[[gnu::always_inline]] inline BlockGroup group_of(const std::byte* block, std::size_t at) {
  BlockGroup group;
  if constexpr (kind == Quantisation::q8_0) {
    group.low = block + 2 + at;
    group.scale = half_at(block);
  } else if constexpr (kind == Quantisation::q4_0) {
    group.low = block + 2;
    group.low_shift = at == 0 ? 0 : 4;
    group.scale = half_at(block);
  } else if constexpr (kind == Quantisation::q4_k || kind == Quantisation::q5_k) {
    const std::size_t index = at / 32;
    constexpr std::size_t codes = kind == Quantisation::q4_k ? 16 : 48;
    group.low = block + codes + index / 2 * 32 + at % 32;
    group.low_shift = index % 2 == 0 ? 0 : 4;
    group.high = block + 16 + at % 32;  // of q5_k: bit `index` of each byte
    group.high_shift = static_cast<unsigned>(index);
    read_group_scales(block, index, group);
  } else {
    static_assert(kind == Quantisation::q6_k);
    const std::size_t half = at / 128;
    const std::size_t quarter = at % 128 / 32;
    group.low = block + half * 64 + quarter % 2 * 32 + at % 32;
    group.low_shift = quarter < 2 ? 0 : 4;
    group.high = block + 128 + half * 32 + at % 32;
    group.high_shift = static_cast<unsigned>(2 * quarter);
    const auto scale = static_cast<std::int8_t>(block[192 + at / 16]);
    group.scale = half_at(block + 208) * static_cast<float>(scale);
  }
  return group;
}

// One row as floats: out [columns]. Requires a format in blocks and whole blocks.
void widen_blocks(Quantisation kind, const std::byte* row, std::size_t columns, float* out);

}  // namespace kv::model
