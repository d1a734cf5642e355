// Kernels::widen_and_sum, which does the work of three kernels in one pass.
#include <bit>
#include <cmath>
#include <cstring>

#include "kvcheck/base/half.h"
#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

// n numbers that are not negative, but for the one at `negative` if that is below n. They stand at
// an odd address.
std::vector<std::byte> row_of(Number number, std::size_t n, std::size_t negative) {
  const std::size_t size = number == Number::f32 ? 4 : 2;
  std::vector<std::byte> bytes(1 + n * size);
  const Values values(14, n);
  for (std::size_t i = 0; i < n; ++i) {
    const float value = std::abs(values.data()[i]) * (i == negative ? -1.0F : 1.0F);
    const std::uint16_t half = number == Number::f16 ? f32_to_f16(value) : f32_to_bf16(value);
    const void* from = number == Number::f32 ? static_cast<const void*>(&value) : &half;
    std::memcpy(bytes.data() + 1 + i * size, from, size);
  }
  return bytes;
}

TEST(Kernels, WidenAndSumAsTheirPartsDo) {
  for (const Kernels* kernel : supported_kernels()) {
    for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
      for (std::size_t n = 0; n <= most; ++n) {
        for (const std::size_t negative : {n, std::size_t{0}, n / 2, n - 1}) {
          const std::vector<std::byte> bytes = row_of(number, n, negative);
          Values requested(2, n);
          Values found(2, n);
          scalar().widen(number, bytes.data() + 1, n, requested.data());
          const RowSum row = kernel->widen_and_sum(number, bytes.data() + 1, n, 0, found.data());
          ASSERT_EQ(found.bits(), requested.bits()) << kernel->name << n;
          ASSERT_EQ(std::bit_cast<std::uint32_t>(row.sum),
                    std::bit_cast<std::uint32_t>(scalar().sum(requested.data(), n)))
              << kernel->name << n;
          ASSERT_EQ(row.any_sign, negative < n) << kernel->name << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kv
