// Activations against their formulas in long double, at sizes from those that vanish to those whose
// exponentials overflow.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/random/rng.h"
#include "kvcheck/model/decoder/blocks.h"

namespace kv::model {
namespace {

using Long = long double;

Long expected_of(Activation activation, float value) {
  const Long x = value;
  switch (activation) {
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::gelu:
      return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Long>);
    case Activation::gelu_tanh: {
      const Long inner = std::sqrt(2 / std::numbers::pi_v<Long>) * (x + 0.044715L * x * x * x);
      return x / (1 + std::exp(-2 * inner));
    }
    case Activation::relu:
      return x > 0 ? x : 0;
  }
  return x;
}

// Of all sizes from 2^-30 to 2^12, both signs.
std::vector<float> numbers() {
  std::vector<float> all = {0.0F, -0.0F};
  const Rng rng(5);
  for (Position i = 0; i < 3000; ++i) {
    const auto size = static_cast<float>(std::exp2(42 * rng.uniform(2 * i) - 30));
    all.push_back(rng.uniform(2 * i + 1) < 0.5 ? -size : size);
  }
  return all;
}

TEST(Activations, AreTheirFormulasToTheLastBits) {
  Team team(2, {.least_cost = 1});
  for (const Activation activation :
       {Activation::silu, Activation::gelu, Activation::gelu_tanh, Activation::relu}) {
    const std::vector<float> from = numbers();
    std::vector<float> found = from;
    activate(activation, found, {}, team);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Long expected = expected_of(activation, from[i]);
      // GELU by erf is a sum with 1, so that its small values have an absolute error.
      const Long least = activation == Activation::gelu ? 1e-15L : 1e-44L;
      ASSERT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected),
                  static_cast<double>(std::fabs(expected) * 1.2e-7L + least))
          << static_cast<int>(activation) << " of " << from[i];
    }
  }
}

TEST(Activations, MultiplyByTheSecondFactorAndKeepNaNs) {
  Team team(1);
  std::vector<float> values(300, std::numeric_limits<float>::quiet_NaN());
  values[7] = 2;
  values[8] = std::numeric_limits<float>::infinity();
  const std::vector<float> by(300, 3);
  for (const Activation activation : {Activation::silu, Activation::gelu_tanh}) {
    std::vector<float> found = values;
    activate(activation, found, by, team);
    EXPECT_NEAR(found[7], 3 * static_cast<float>(expected_of(activation, 2)), 1e-6);
    EXPECT_EQ(found[8], std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_TRUE(std::isnan(found[299]));
  }
}

constexpr std::array<Activation, 4> all_activations = {Activation::silu, Activation::gelu,
                                                       Activation::gelu_tanh, Activation::relu};

float activated(Activation activation, float value, Team& team) {
  activate(activation, {&value, 1}, {}, team);
  return value;
}

std::uint32_t bits_of(float number) {
  return std::bit_cast<std::uint32_t>(number);
}

TEST(Activations, OfSpecialNumbersAreTheLimitsOfTheirFormulas) {
  using limits = std::numeric_limits<float>;
  Team team(1);
  for (const Activation activation : all_activations) {
    const auto of = [&](float value) { return activated(activation, value, team); };
    EXPECT_TRUE(std::isnan(of(limits::quiet_NaN()))) << static_cast<int>(activation);
    EXPECT_TRUE(std::isnan(of(-limits::quiet_NaN()))) << static_cast<int>(activation);
    EXPECT_EQ(of(limits::infinity()), limits::infinity());
    EXPECT_EQ(of(limits::max()), limits::max());
    EXPECT_EQ(of(limits::lowest()), 0);
    EXPECT_EQ(bits_of(of(0.0F)), 0U);
    const bool positive = activation == Activation::relu;
    EXPECT_EQ(bits_of(of(-0.0F)), positive ? 0U : 0x80000000U);
    // Half of it, to the nearest number, of two the even one.
    for (const std::uint32_t denormal : {1U, 2U, 3U, 5U, 7U, 0x7FFFFFU, 0x800000U, 0x800003U}) {
      const auto value = std::bit_cast<float>(denormal);
      EXPECT_EQ(of(value), positive ? value : value / 2) << denormal;
      EXPECT_EQ(of(-value), positive ? 0 : -value / 2) << denormal;
    }
  }
  // Infinity times the sigmoid's limit, which is 0.
  EXPECT_TRUE(std::isnan(activated(Activation::silu, -limits::infinity(), team)));
  EXPECT_EQ(activated(Activation::relu, -limits::infinity(), team), 0);
}

// Activates n numbers of `from` behind `shift` others, part = {shift, n}: the bits of one number at
// a time, and nothing beyond the end.
void expect_part(Activation activation,
                 const std::vector<float>& from,
                 const std::vector<float>& expected,
                 std::span<const std::size_t, 2> part,
                 Team& team) {
  const auto [shift, n] = std::pair(part[0], part[1]);
  std::vector<float> found = from;
  activate(activation, std::span(found).subspan(shift, n), {}, team);
  for (std::size_t i = 0; i < shift + n + 16; ++i) {
    const float requested = i < shift || i >= shift + n ? from[i] : expected[i];
    ASSERT_TRUE(bits_of(found[i]) == bits_of(requested) ||
                (std::isnan(found[i]) && std::isnan(requested)))
        << n << " from " << shift << ", number " << i;
  }
}

TEST(Activations, AtEveryLengthAndAddressAreThoseOfEachNumber) {
  std::vector<float> from = numbers();
  from[5] = std::numeric_limits<float>::quiet_NaN();
  from[9] = -std::numeric_limits<float>::infinity();
  Team one(1);
  Team three(3, {.least_cost = 1});
  for (const Activation activation : all_activations) {
    std::vector<float> expected = from;
    for (float& value : expected) value = activated(activation, value, one);
    for (std::size_t n = 0; n <= 70; ++n) {
      for (std::size_t shift = 0; shift < 16; ++shift) {
        const std::array part = {shift, n};
        ASSERT_NO_FATAL_FAILURE(expect_part(activation, from, expected, part, one));
      }
    }
    // Exponentials are taken 256 at a time, and threads get whole sixteens.
    for (const std::size_t n : {17U, 70U, 127U, 255U, 256U, 257U, 511U, 513U, 1000U}) {
      const std::array<std::size_t, 2> part = {3, n};
      ASSERT_NO_FATAL_FAILURE(expect_part(activation, from, expected, part, one));
      ASSERT_NO_FATAL_FAILURE(expect_part(activation, from, expected, part, three));
    }
  }
}

// SiLU with the exponentials of the scalar kernels.
std::vector<float> plain_silu(std::vector<float> values) {
  for (float& value : values) {
    const auto x = static_cast<double>(value);
    double power = -std::fabs(x);
    supported_kernels().back()->exp_each(&power, 1);
    value = static_cast<float>(x * ((x < 0 ? power : 1.0) / (1 + power)));
  }
  return values;
}

TEST(ActivationsDeathTest, AreTheSameBitsForAllKernels) {
  // Each kind in a child, which has not selected its kernels yet.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const Kernels* table : supported_kernels()) {
    EXPECT_EXIT(
        {
          ::setenv("KV_KERNEL", table->name.data(), 1);
          Team team(1);
          std::vector<float> found = numbers();
          activate(Activation::silu, found, {}, team);
          const bool same = std::ranges::equal(found, plain_silu(numbers()), {}, bits_of, bits_of);
          std::exit(&kernels() == table && same ? 0 : 1);
        },
        testing::ExitedWithCode(0), "")
        << table->name;
  }
}

}  // namespace
}  // namespace kv::model
