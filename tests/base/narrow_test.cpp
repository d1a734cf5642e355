// Kernels::narrow against base/half.h, which tests/base/half_test.cpp holds to IEEE's definitions.
#include <bit>
#include <cstring>

#include "kvcheck/base/half.h"
#include "kvcheck/tests/base/kernel_values.h"

namespace kv {
namespace {

std::uint16_t half_of(Number number, float value) {
  return number == Number::f16 ? f32_to_f16(value) : f32_to_bf16(value);
}

void expect_halves(const Kernels& kernel, Number number, const std::vector<float>& values) {
  std::vector<std::uint16_t> found(values.size());
  kernel.narrow(number, values.data(), values.size(), reinterpret_cast<std::byte*>(found.data()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(found[i], half_of(number, values[i]))
        << kernel.name << ", " << number_name(number) << " of " << values[i] << ", bits "
        << std::bit_cast<std::uint32_t>(values[i]);
  }
}

// Numbers that are halves, the ties between them, and their neighbours, of both signs: infinities,
// and NaNs of all kinds, are among the halves. `up` is the distance of two bf16 numbers; f16
// numbers come from those that f16_to_f32 gives.
std::vector<float> halves_and_ties(Number number) {
  std::vector<float> values;
  const auto put = [&](std::uint32_t bits) {
    for (const std::uint32_t near : {bits - 1, bits, bits + 1}) {
      values.push_back(std::bit_cast<float>(near));
      values.push_back(std::bit_cast<float>(near ^ 0x80000000U));
    }
  };
  for (std::uint32_t half = 0; half < 0x8000; ++half) {
    if (number == Number::bf16) {
      put(half << 16);
      put(half << 16 | 0x8000U);
      continue;
    }
    const auto bits = static_cast<std::uint16_t>(half);
    const float low = f16_to_f32(bits);
    put(std::bit_cast<std::uint32_t>(low));
    const float high = f16_to_f32(static_cast<std::uint16_t>(bits + 1));
    put(std::bit_cast<std::uint32_t>(low + (high - low) / 2));
  }
  for (const float edge : {65520.0F, 0x1p-24F, 0x1p-25F, 0x1p-14F, 0x1p-126F, 0x1.fffffep127F}) {
    put(std::bit_cast<std::uint32_t>(edge));
  }
  return values;
}

TEST(Narrow, RoundsHalvesTiesAndTheirNeighboursAsOneByOne) {
  for (const Number number : {Number::f16, Number::bf16}) {
    const std::vector<float> values = halves_and_ties(number);
    for (const Kernels* kernel : supported_kernels()) {
      ASSERT_NO_FATAL_FAILURE(expect_halves(*kernel, number, values));
    }
  }
}

// Of two random numbers one has any size, the other one that f16 has, or nearly.
TEST(Narrow, RoundsRandomBitsAsOneByOne) {
  const Rng rng(41);
  std::vector<float> values;
  for (Position i = 0; i < 100000; ++i) {
    const auto bits = static_cast<std::uint32_t>(rng.bits(i));
    values.push_back(std::bit_cast<float>(bits));
    const std::uint32_t exponent = 127 - 28 + (bits >> 8U) % 48;
    values.push_back(std::bit_cast<float>((bits & 0x807FFFFFU) | exponent << 23U));
  }
  for (const Kernels* kernel : supported_kernels()) {
    for (const Number number : {Number::f16, Number::bf16}) {
      ASSERT_NO_FATAL_FAILURE(expect_halves(*kernel, number, values));
    }
  }
}

// Values and bytes at any address; the bytes before and behind stay as they were.
TEST(Narrow, WritesAtEveryLengthAndAddressWhatBelongsThere) {
  constexpr std::byte other{0x5A};
  for (const Kernels* kernel : supported_kernels()) {
    for (const Number number : {Number::f32, Number::f16, Number::bf16}) {
      const std::size_t size = number == Number::f32 ? 4 : 2;
      for (std::size_t n = 0; n <= 70; ++n) {
        for (std::size_t shift = 0; shift < 5; ++shift) {
          const Values values(n, n, shift);
          std::vector<std::byte> requested(shift + n * size + 40, other);
          std::vector<std::byte> found = requested;
          for (std::size_t i = 0; i < n; ++i) {
            const std::uint16_t half = half_of(number, values.data()[i]);
            const void* from = size == 4 ? static_cast<const void*>(values.data() + i) : &half;
            std::memcpy(requested.data() + shift + i * size, from, size);
          }
          kernel->narrow(number, values.data(), n, found.data() + shift);
          ASSERT_EQ(found, requested) << kernel->name << ", " << n << " at " << shift;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kv
