#include <cstring>

#include "kvcheck/base/kernels/kernels_detail.h"
#include "kvcheck/base/kernels/lanes_avx512.h"

KV_AVX512_BEGIN

namespace kv {
namespace {

template <Number number>
void narrow_as(const float* values, std::size_t n, std::byte* bytes) {
  const auto step = [&](std::size_t i, __mmask16 live) KV_INLINED {
    store_as<number, Nans::some>(bytes + 2 * i, live, _mm512_maskz_loadu_ps(live, values + i));
  };
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) step(i, 0xFFFF);
  if (i < n) step(i, first(n - i));
}

}  // namespace

void avx512_narrow(Number number, const float* values, std::size_t n, std::byte* bytes) {
  if (number == Number::f16) return narrow_as<Number::f16>(values, n, bytes);
  if (number == Number::bf16) return narrow_as<Number::bf16>(values, n, bytes);
  if (n > 0) std::memcpy(bytes, values, n * sizeof(float));
}

}  // namespace kv

KV_AVX512_END
