#include "kvcheck/tests/fp16/exact.h"

#include <algorithm>
#include <array>
#include <bit>

namespace kv::fp16 {
namespace {

__extension__ typedef __int128 Wide;

constexpr std::uint16_t sign_bit = 0x8000;
constexpr std::uint16_t infinity = 0x7C00;
constexpr std::uint16_t one = 0x3C00;

std::uint16_t negative(std::uint16_t number) {
  return number ^ sign_bit;
}

bool is_infinite(std::uint16_t number) {
  return (number & ~sign_bit) == infinity;
}

// A finite number in units of 2^-24, which is the least subnormal number.
std::int64_t units(std::uint16_t number) {
  const int exponent = number >> 10 & 31;
  const std::int64_t fraction = number & 1023;
  const std::int64_t magnitude = exponent == 0 ? fraction : (1024 + fraction) << (exponent - 1);
  return (number & sign_bit) != 0 ? -magnitude : magnitude;
}

// In units of 2^-48.
Wide exact_product(std::uint16_t a, std::uint16_t b) {
  return Wide{units(a)} * units(b);
}

Wide exact_number(std::uint16_t a) {
  return exact_product(a, one);
}

int bit_width(Wide magnitude) {
  const auto high = static_cast<std::uint64_t>(magnitude >> 64);
  const auto low = static_cast<std::uint64_t>(magnitude);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

// The nearest f16 to a number in units of 2^-48, ties to even. A number of 0 gets the sign of
// `zero`.
std::uint16_t rounded(Wide number, std::uint16_t zero) {
  if (number == 0) return zero & sign_bit;
  const Wide magnitude = number < 0 ? -number : number;
  // The result has 11 bits, or fewer where its last bit would be below 2^-24.
  const int dropped = std::max(bit_width(magnitude) - 11, 24);
  const Wide unit = Wide{1} << dropped;
  const Wide rest = magnitude & (unit - 1);
  auto kept = static_cast<int>(magnitude >> dropped);
  if (rest > unit / 2 || (rest == unit / 2 && kept % 2 == 1)) ++kept;
  // The leading bit of 1,024 is not stored; where rounding carries into the next bit, the addition
  // raises the exponent.
  const int bits = kept < 1024 ? kept : kept - 1024 + ((dropped - 23) << 10);
  const auto result = static_cast<std::uint16_t>(std::min<int>(bits, infinity));
  return number < 0 ? negative(result) : result;
}

// Rounded once, with the sign of a product of floating-point numbers even if it is 0.
std::uint16_t times(std::uint16_t a, std::uint16_t b) {
  return rounded(exact_product(a, b), a ^ b);
}

// a * b + c, rounded once; c may be infinite. A sum of 0 is -0 if both terms are.
std::uint16_t fused(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  if (is_infinite(c)) return c;
  return rounded(exact_product(a, b) + exact_number(c), (a ^ b) & c);
}

std::uint16_t sum(std::uint16_t a, std::uint16_t b) {
  constexpr std::uint16_t not_a_number = 0xFE00;
  if (!is_infinite(a)) return fused(a, one, b);
  return b == negative(a) ? not_a_number : a;
}

Complex exchanged(Complex key, Complex angle) {
  return product(angle, key);
}

Complex other_product_first(Complex key, Complex angle) {
  const std::uint16_t minus = negative(key.imaginary);
  return {fused(key.real, angle.real, times(minus, angle.imaginary)),
          fused(key.imaginary, angle.real, times(key.real, angle.imaginary))};
}

Complex both_products_rounded(Complex key, Complex angle) {
  const std::uint16_t minus = negative(key.imaginary);
  return {sum(times(key.real, angle.real), times(minus, angle.imaginary)),
          sum(times(key.imaginary, angle.real), times(key.real, angle.imaginary))};
}

Complex rounded_once(Complex key, Complex angle) {
  return {
      rounded(exact_product(key.real, angle.real) - exact_product(key.imaginary, angle.imaginary),
              0),
      rounded(exact_product(key.imaginary, angle.real) + exact_product(key.real, angle.imaginary),
              0)};
}

Complex by_the_conjugate(Complex key, Complex angle) {
  return product(key, {angle.real, negative(angle.imaginary)});
}

Complex subnormal_results_lost(Complex key, Complex angle) {
  const auto flushed = [](std::uint16_t number) {
    return (number & infinity) == 0 ? static_cast<std::uint16_t>(number & sign_bit) : number;
  };
  const Complex right = product(key, angle);
  return {flushed(right.real), flushed(right.imaginary)};
}

constexpr std::array<WrongArithmetic, 6> wrong = {{
    {"operands exchanged", exchanged},
    {"the other product rounded first", other_product_first},
    {"both products rounded", both_products_rounded},
    {"sums rounded once", rounded_once},
    {"the conjugate", by_the_conjugate},
    {"subnormal results lost", subnormal_results_lost},
}};

}  // namespace

Complex product(Complex key, Complex angle) {
  return {fused(negative(key.imaginary), angle.imaginary, times(key.real, angle.real)),
          fused(key.real, angle.imaginary, times(key.imaginary, angle.real))};
}

std::span<const WrongArithmetic> wrong_arithmetics() {
  return wrong;
}

}  // namespace kv::fp16
