// The complex multiplication of AVX512-FP16 in integers of 128 bits: what Intel's manual describes,
// computed otherwise than by the emulation in model/rotation/rotate_kernels_scalar.cpp. And other
// arithmetics, which a comparison has to tell from it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kv::fp16 {

// A complex number: two f16 as raw bits.
struct Complex {
  std::uint16_t real = 0;
  std::uint16_t imaginary = 0;

  bool operator==(const Complex&) const = default;
};

using Arithmetic = Complex (*)(Complex key, Complex angle);

// VFMULCPH with the key as first source and the angle as second. All numbers must be finite. Of
// each sum, the product with the angle's real part is rounded; then the other product is added to
// it and the sum is rounded. Ties are rounded to even, and subnormal numbers are kept.
Complex product(Complex key, Complex angle);

struct WrongArithmetic {
  std::string_view name;
  Arithmetic of;
};

// Such as the same multiplication with its operands exchanged, or with fewer roundings.
std::span<const WrongArithmetic> wrong_arithmetics();

}  // namespace kv::fp16
