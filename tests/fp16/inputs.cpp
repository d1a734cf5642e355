#include "kvcheck/tests/fp16/inputs.h"

#include <algorithm>

namespace kv::fp16 {
namespace {

constexpr std::size_t kinds = 7;

// 0, the least and largest subnormal numbers, the least normal ones, powers of two and their
// neighbours, thirds, and the largest numbers.
constexpr std::array<std::uint16_t, 40> edges = {
    0x0000, 0x0001, 0x0002, 0x0003, 0x01FF, 0x0200, 0x0201, 0x03FE, 0x03FF, 0x0400,
    0x0401, 0x07FF, 0x0800, 0x0801, 0x13FF, 0x1400, 0x1401, 0x2BFF, 0x2C00, 0x2C01,
    0x3555, 0x37FF, 0x3800, 0x3801, 0x39A8, 0x3BFF, 0x3C00, 0x3C01, 0x3E00, 0x3FFF,
    0x4000, 0x4001, 0x4248, 0x57FF, 0x5800, 0x5801, 0x77FF, 0x7800, 0x7BFE, 0x7BFF,
};

constexpr std::uint16_t exponent_bits = 0x7C00;

// An exponent field of `least` and the `count` - 1 after it; the other bits are random.
std::uint16_t with_exponent(std::uint64_t bits, unsigned least, unsigned count) {
  const auto exponent = least + static_cast<unsigned>(bits >> 16) % count;
  return static_cast<std::uint16_t>((bits & 0x83FFU) | exponent << 10);
}

// One or two bits of the fraction are set: products of such numbers are often midpoints.
std::uint16_t with_few_bits(std::uint64_t bits) {
  const std::uint64_t fraction = 1U << (bits >> 32) % 10 | (bits >> 40) % 2 << (bits >> 48) % 10;
  return with_exponent((bits & 0xFFFF8000U) | fraction, 0, 31);
}

}  // namespace

std::uint64_t Inputs::bits() {
  const std::size_t i = next_ % run_of_positions;
  if (i == 0) drawn_ = rng_.bits_of_run(next_);
  ++next_;
  return drawn_[i];
}

std::size_t Inputs::below(std::size_t bound) {
  return static_cast<std::size_t>(bits() % bound);
}

std::uint16_t Inputs::number(Kind kind) {
  const std::uint64_t random = bits();
  switch (kind) {
    case Kind::near_one:
      return with_exponent(random, 13, 4);
    case Kind::subnormal:
      return with_exponent(random, 0, 1);
    case Kind::edge:
      return edges[(random >> 16) % edges.size()] | static_cast<std::uint16_t>(random & 0x8000U);
    case Kind::large:
      return with_exponent(random, 26, 5);
    case Kind::small:
      return with_exponent(random, 1, 4);
    case Kind::few_bits:
      return with_few_bits(random);
    case Kind::any:
      break;
  }
  return with_exponent(random, 0, 31);
}

std::uint16_t Inputs::number() {
  return number(static_cast<Kind>(below(kinds)));
}

// Up to two numbers above or below, in magnitude.
std::uint16_t Inputs::neighbour(std::uint16_t number) {
  const int magnitude = (number & 0x7FFF) + static_cast<int>(below(5)) - 2;
  return static_cast<std::uint16_t>((number & 0x8000) |
                                    std::clamp(magnitude, 0, exponent_bits - 1));
}

// One of the two sums of products is small, or an exact 0, as its two products are nearly equal.
Inputs::Factors Inputs::nearly_cancelling() {
  const std::uint16_t a = number();
  const std::uint16_t b = number();
  const std::uint64_t random = bits();
  const bool same_order = (random & 1) != 0;
  Factors made{.key = {a, neighbour(same_order ? a : b)},
               .angle = {b, neighbour(same_order ? b : a)}};
  if ((random & 2) != 0) made.key.imaginary ^= 0x8000U;
  if ((random & 4) != 0) made.angle.imaginary ^= 0x8000U;
  if ((random & 8) != 0) std::swap(made.angle.real, made.angle.imaginary);
  return made;
}

Inputs::Factors Inputs::factors() {
  const std::size_t way = below(16);
  if (way < 4) return nearly_cancelling();
  const auto four = [&](const auto& draw) {
    Factors made;
    made.key = {draw(), draw()};
    made.angle = {draw(), draw()};
    return made;
  };
  if (way < 9) return four([&] { return number(Kind::any); });
  if (way < 15) return four([&] { return number(); });
  const auto kind = static_cast<Kind>(below(kinds));
  return four([&] { return number(kind); });
}

}  // namespace kv::fp16
