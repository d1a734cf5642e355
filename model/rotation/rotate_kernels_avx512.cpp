#include "kvcheck/base/kernels/lanes_avx512.h"
#include "kvcheck/model/rotation/rotate_kernels_detail.h"

KV_AVX512_BEGIN

namespace kv::model {
namespace {

template <Number number>
constexpr std::size_t size_of = number == Number::f32 ? 4 : 2;

template <Number number>
void rotate_halves(std::byte* row, std::size_t pairs, const float* cosines, const float* sines) {
  for (std::size_t i = 0; i < pairs; i += 16) {
    const __mmask16 live = first(pairs - i);
    const __m512 x = load_wide<number>(row + i * size_of<number>, live);
    const __m512 y = load_wide<number>(row + (pairs + i) * size_of<number>, live);
    const __m512 cosine = _mm512_maskz_loadu_ps(live, cosines + i);
    const __m512 sine = _mm512_maskz_loadu_ps(live, sines + i);
    store_as<number, Nans::none>(row + i * size_of<number>, live,
                                 _mm512_sub_ps(_mm512_mul_ps(x, cosine), _mm512_mul_ps(y, sine)));
    store_as<number, Nans::none>(row + (pairs + i) * size_of<number>, live,
                                 _mm512_add_ps(_mm512_mul_ps(x, sine), _mm512_mul_ps(y, cosine)));
  }
}

// Eight numbers, each twice.
__m512 twice(const float* values, std::size_t live) {
  const __m512i each = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  return _mm512_permutexvar_ps(each, _mm512_maskz_loadu_ps(first(live), values));
}

template <Number number>
void rotate_neighbours(std::byte* row,
                       std::size_t pairs,
                       const float* cosines,
                       const float* sines) {
  constexpr __mmask16 even = 0x5555;
  for (std::size_t i = 0; i < pairs; i += 8) {
    const std::size_t here = pairs - i < 8 ? pairs - i : 8;
    const __mmask16 live = first(2 * here);
    const __m512 pair = load_wide<number>(row + (2 * i) * size_of<number>, live);
    const __m512 along = _mm512_mul_ps(pair, twice(cosines + i, here));
    const __m512 across = _mm512_mul_ps(_mm512_permute_ps(pair, 0xB1), twice(sines + i, here));
    const __m512 sum = _mm512_add_ps(along, across);
    store_as<number, Nans::none>(row + (2 * i) * size_of<number>, live,
                                 _mm512_mask_sub_ps(sum, even, along, across));
  }
}

template <Number number>
void rotate_as(const RotatedRows& rows, const float* cosines, const float* sines) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::byte* row = rows.rows + rows.slots[i] * rows.dim * size_of<number>;
    if (rows.layout == RopeLayout::interleaved) {
      rotate_neighbours<number>(row, rows.pairs, cosines, sines);
    } else {
      rotate_halves<number>(row, rows.pairs, cosines, sines);
    }
  }
}

void rotate(Number number, const RotatedRows& rows, const float* cosines, const float* sines) {
  if (number == Number::f32) {
    rotate_as<Number::f32>(rows, cosines, sines);
  } else if (number == Number::f16) {
    rotate_as<Number::f16>(rows, cosines, sines);
  } else {
    rotate_as<Number::bf16>(rows, cosines, sines);
  }
}

void rotate_f16(const RotatedRows& rows, const std::uint16_t* rotations) {
  scalar_rotate_kernels.rotate_f16(rows, rotations);
}

}  // namespace

const RotateKernels avx512_rotate_kernels = {
    .name = "avx512", .rotate = rotate, .rotate_f16 = rotate_f16};

}  // namespace kv::model

KV_AVX512_END
