#include "kvcheck/base/kernels/lanes_avx512.h"
#include "kvcheck/model/rotation/rotate_kernels_detail.h"

KV_AVX512_BEGIN

namespace kv::model {
namespace {

// Sixteen complex numbers times sixteen others. The product that is rounded first is a's part times
// b's real part, so exchanging the operands changes bits. g++ 12 takes the intrinsic for
// commutative and exchanges them under some flags (-O3 -fno-ivopts), hence an instruction of our
// own. Its result may not be in a register of an operand.
__m512i multiplied(__m512i a, __m512i b) {
  __m512i product;
  asm("vfmulcph %2, %1, %0" : "=&v"(product) : "v"(a), "v"(b));
  return product;
}

}  // namespace

// Sixteen pairs at a time; pairs of halves are put side by side for it and taken apart again.
void rotate_f16_by_avx512_fp16(const RotatedRows& rows, const std::uint16_t* rotations) {
  const bool neighbours = rows.layout == RopeLayout::interleaved;
  for (std::size_t row = 0; row < rows.count; ++row) {
    std::byte* at = rows.rows + rows.slots[row] * rows.dim * 2;
    for (std::size_t i = 0; i < rows.pairs; i += 16) {
      const std::size_t left = rows.pairs - i;
      const auto live = static_cast<__mmask16>(left >= 16 ? 0xFFFF : (1U << left) - 1);
      const __m512i angle = _mm512_maskz_loadu_epi32(live, rotations + 2 * i);
      if (neighbours) {
        const __m512i pair = _mm512_maskz_loadu_epi32(live, at + 4 * i);
        _mm512_mask_storeu_epi32(at + 4 * i, live, multiplied(pair, angle));
        continue;
      }
      std::byte* at_x = at + 2 * i;
      std::byte* at_y = at_x + 2 * rows.pairs;
      const __m512i x = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(live, at_x));
      const __m512i y = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(live, at_y));
      const __m512i pair = _mm512_or_si512(x, _mm512_slli_epi32(y, 16));
      const __m512i rotated = multiplied(pair, angle);
      _mm512_mask_cvtepi32_storeu_epi16(at_x, live, rotated);
      _mm512_mask_cvtepi32_storeu_epi16(at_y, live, _mm512_srli_epi32(rotated, 16));
    }
  }
}

}  // namespace kv::model

KV_AVX512_END
