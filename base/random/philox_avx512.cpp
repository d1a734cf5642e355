#include "kvcheck/base/kernels/lanes_avx512.h"
#include "kvcheck/base/random/philox_many.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

constexpr __mmask16 odd_lanes = 0xAAAA;

__m512i all(std::uint32_t word) {
  return _mm512_set1_epi32(static_cast<int>(word));
}

// The products of sixteen 32-bit lanes with one number: their low words and their high words.
struct Product {
  __m512i low;
  __m512i high;
};

Product multiply(__m512i lanes, __m512i number) {
  // _mm512_mul_epu32 multiplies the even lanes only, so the odd ones are shifted into their places.
  const __m512i even = _mm512_mul_epu32(lanes, number);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(lanes, 32), number);
  return {_mm512_mask_blend_epi32(odd_lanes, even, _mm512_slli_epi64(odd, 32)),
          _mm512_mask_blend_epi32(odd_lanes, _mm512_srli_epi64(even, 32), odd)};
}

}  // namespace

static_assert(run_of_positions == 16, "one register of words");

void philox_run_avx512(const PhiloxRun& run, RunBits& out) {
  const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i word_0 = all(run.index);
  __m512i word_1 = _mm512_setzero_si512();
  __m512i word_2 = _mm512_add_epi32(all(run.first), steps);
  __m512i word_3 = all(run.stream);
  __m512i key_0 = all(static_cast<std::uint32_t>(run.seed));
  __m512i key_1 = all(static_cast<std::uint32_t>(run.seed >> 32));
  for (int round = 0; round < 10; ++round) {
    const Product first = multiply(word_0, all(philox_multiplier_0));
    const Product second = multiply(word_2, all(philox_multiplier_1));
    word_0 = _mm512_xor_si512(_mm512_xor_si512(second.high, word_1), key_0);
    word_1 = second.low;
    word_2 = _mm512_xor_si512(_mm512_xor_si512(first.high, word_3), key_1);
    word_3 = first.low;
    key_0 = _mm512_add_epi32(key_0, all(philox_weyl_0));
    key_1 = _mm512_add_epi32(key_1, all(philox_weyl_1));
  }
  // Each result has word 1 in its upper half and word 0 in its lower half; the permutations
  // interleave the two registers in the order of the positions.
  const __m512i low_half =
      _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high_half =
      _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  _mm512_storeu_si512(out.data(), _mm512_permutex2var_epi32(word_0, low_half, word_1));
  _mm512_storeu_si512(out.data() + 8, _mm512_permutex2var_epi32(word_0, high_half, word_1));
}

}  // namespace kv

KV_AVX512_END
