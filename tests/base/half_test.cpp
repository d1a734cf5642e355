#include "kvcheck/base/half.h"

#include <bit>
#include <cmath>
#include <limits>

#include "kvcheck/base/random/rng.h"

namespace kv {
namespace {

constexpr std::uint32_t all = 65536;

bool is_nan_f16(std::uint32_t bits) {
  return (bits & 0x7FFF) > 0x7C00;
}

bool is_nan_bf16(std::uint32_t bits) {
  return (bits & 0x7FFF) > 0x7F80;
}

// The value by the definition of binary16, in double.
double meaning_of_f16(std::uint32_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 0x3FF;
  if (exponent == 31) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Rounds to a grid of 11 significant bits, never finer than 2^-24, in double, where both the
// scaling and nearbyint are exact.
double rounded_to_f16(float value) {
  const double x = value;
  if (!std::isfinite(x) || x == 0) return x;
  const double step = std::ldexp(1, std::max(std::ilogb(x) - 10, -24));
  const double rounded = std::nearbyint(x / step) * step;
  return std::abs(rounded) > 65504 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                   : rounded;
}

void expect_rounded(float value) {
  const double requested = rounded_to_f16(value);
  const double found = meaning_of_f16(f32_to_f16(value));
  ASSERT_EQ(found, requested) << value;
  ASSERT_EQ(std::signbit(found), std::signbit(requested)) << value;
}

TEST(Half, EveryF16HasTheValueThatIeeeDefines) {
  for (std::uint32_t bits = 0; bits < all; ++bits) {
    const float value = f16_to_f32(static_cast<std::uint16_t>(bits));
    if (is_nan_f16(bits)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      continue;
    }
    ASSERT_EQ(value, meaning_of_f16(bits)) << bits;
    ASSERT_EQ(std::signbit(value), bits >= 0x8000) << bits;
  }
}

TEST(Half, EveryF16RoundTrips) {
  for (std::uint32_t bits = 0; bits < all; ++bits) {
    const std::uint16_t back = f32_to_f16(f16_to_f32(static_cast<std::uint16_t>(bits)));
    if (is_nan_f16(bits)) {
      ASSERT_TRUE(is_nan_f16(back)) << bits;
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

TEST(Half, EveryBf16RoundTrips) {
  for (std::uint32_t bits = 0; bits < all; ++bits) {
    const float value = bf16_to_f32(static_cast<std::uint16_t>(bits));
    const std::uint16_t back = f32_to_bf16(value);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
    if (is_nan_bf16(bits)) {
      ASSERT_TRUE(is_nan_bf16(back)) << bits;
    } else {
      ASSERT_EQ(back, bits);
    }
  }
}

TEST(Half, F16RoundsToNearestEvenBetweenAllNeighbours) {
  for (std::uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const float low = f16_to_f32(static_cast<std::uint16_t>(bits));
    const float high = f16_to_f32(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;  // exact: one more bit than f16 has
    for (const float value : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)}) {
      expect_rounded(value);
      expect_rounded(-value);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(Half, F16RoundsRandomFloatsLikeTheReference) {
  const Rng rng(20240607);
  for (Position i = 0; i < 200000 && !HasFatalFailure(); ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(rng.bits(i)));
    if (!std::isnan(value)) expect_rounded(value);
    // The same digits, scaled into the range of f16.
    expect_rounded(
        std::ldexp(static_cast<float>(rng.uniform(i)) - 0.5F, static_cast<int>(i % 48) - 30));
  }
}

TEST(Half, F16OverflowsAt65520) {
  EXPECT_EQ(f32_to_f16(65504.0F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(std::nextafter(65520.0F, 0.0F)), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7C00);
  EXPECT_EQ(f32_to_f16(-std::numeric_limits<float>::max()), 0xFC00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::infinity()), 0x7C00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Half, Bf16RoundsToNearestEven) {
  const auto from = [](std::uint32_t bits) { return f32_to_bf16(std::bit_cast<float>(bits)); };
  for (std::uint32_t high = 0; high < 0x7F80; ++high) {
    ASSERT_EQ(from(high << 16 | 0x7FFF), high);
    ASSERT_EQ(from(high << 16 | 0x8000), high + (high & 1)) << "a tie goes to even";
    ASSERT_EQ(from(high << 16 | 0x8001), high + 1);
  }
  EXPECT_EQ(from(0x7F7FFFFF), 0x7F80) << "the largest float rounds to infinity";
  EXPECT_TRUE(is_nan_bf16(from(0x7F800001))) << "a NaN whose upper bits are those of infinity";
  EXPECT_TRUE(is_nan_f16(f32_to_f16(std::bit_cast<float>(0x7F800001U))));
}

}  // namespace
}  // namespace kv
