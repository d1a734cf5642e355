// Codes are off by at most half a step, and steps are no coarser than they must be.
#include "kvcheck/model/kernels/group_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kvcheck/base/random/rng.h"

namespace kv::model {
namespace {

constexpr std::array<CodeKind, 8> kinds = {{{8, false, false},
                                            {8, false, true},
                                            {4, false, false},
                                            {4, false, true},
                                            {8, true, false},
                                            {4, true, false},
                                            {2, true, false},
                                            {2, false, false}}};

// Numbers of any size, around any middle.
std::vector<float> some_numbers(std::uint64_t seed) {
  const Rng rng(seed);
  const double size = std::pow(10.0, static_cast<double>(seed % 13) - 6);
  const double middle = seed % 3 == 0 ? 0 : 5 * size * rng.normal(1000);
  std::vector<float> numbers(1 + seed % 40);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(middle + size * rng.normal(static_cast<Position>(i)));
  }
  return numbers;
}

CodeSteps steps_for(const CodeKind& kind, const std::vector<float>& numbers) {
  const auto [least, most] = std::ranges::minmax_element(numbers);
  return code_steps(kind, *least, *most);
}

TEST(GroupCodes, AreOffByAtMostHalfAStep) {
  for (const CodeKind& kind : kinds) {
    double furthest = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const std::vector<float> numbers = some_numbers(seed);
      const CodeSteps steps = steps_for(kind, numbers);
      for (const float number : numbers) {
        const int code = nearest_code(kind, steps, number);
        ASSERT_GE(code, kind.least());
        ASSERT_LE(code, kind.most());
        const double off = std::abs(static_cast<double>(coded_number(kind, steps, code)) - number);
        // A number far from 0 is rounded to f32 once it is added to the zero point.
        ASSERT_LE(off, steps.step * 0.500001 + std::abs(number) * 6e-8) << kind.bits;
        furthest = std::max(furthest, off / static_cast<double>(steps.step));
      }
    }
    EXPECT_GT(furthest, 0.49) << kind.bits;  // a bound that is nearly met
  }
}

TEST(GroupCodes, StepsAreRoundedUpToBf16AndNoFurther) {
  for (const CodeKind& kind : kinds) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const std::vector<float> numbers = some_numbers(seed);
      const auto [least, most] = std::ranges::minmax(numbers);
      const CodeSteps steps = steps_for(kind, numbers);
      const double reach = kind.affine ? static_cast<double>(most) - static_cast<double>(steps.zero)
                                       : std::max(std::abs(least), std::abs(most));
      const double exact = reach / (kind.most() - kind.origin());
      ASSERT_GE(steps.step, exact * (1 - 1e-7));
      ASSERT_LE(steps.step, exact * (kind.wide ? 1 + 1e-7 : 1 + 1.0 / 128));
      ASSERT_LE(steps.zero, kind.affine ? least : 0);
      ASSERT_GE(steps.zero, kind.affine ? least - std::abs(least) / 128 : 0);
    }
  }
}

TEST(GroupCodes, KeepZeroWhereCodesAreSymmetric) {
  for (const CodeKind& kind : kinds) {
    if (kind.affine) continue;
    const CodeSteps steps = code_steps(kind, -3, 1);
    EXPECT_EQ(coded_number(kind, steps, nearest_code(kind, steps, 0)), 0);
    const CodeSteps nothing = code_steps(kind, 0, 0);
    EXPECT_EQ(coded_number(kind, nothing, nearest_code(kind, nothing, 0)), 0);
  }
}

TEST(GroupCodes, KeepEqualNumbersThatBf16Has) {
  const CodeKind kind{2, true, false};
  const CodeSteps steps = code_steps(kind, -2.5, -2.5);
  EXPECT_EQ(steps.step, 0);
  EXPECT_EQ(coded_number(kind, steps, nearest_code(kind, steps, -2.5)), -2.5);
}

TEST(GroupCodes, TakeNumbersOfAllSizes) {
  for (const CodeKind& kind : kinds) {
    for (const float size : {1e-38F, 1e-30F, 1e38F}) {
      const CodeSteps steps = code_steps(kind, -size, size);
      EXPECT_TRUE(std::isfinite(steps.step));
      const float back = coded_number(kind, steps, nearest_code(kind, steps, size));
      EXPECT_LE(std::abs(back - size), steps.step * 0.500001F);
    }
  }
}

TEST(GroupCodes, ComeBackFromTheirBytes) {
  for (const CodeKind& kind : kinds) {
    std::vector<std::byte> bytes(kind.bytes(37));
    for (std::size_t i = 0; i < 37; ++i) {
      write_code(kind, bytes.data(), i, static_cast<int>(i * 7) % (kind.most() + 1));
    }
    for (std::size_t i = 0; i < 37; ++i) {
      ASSERT_EQ(read_code(kind, bytes.data(), i), static_cast<int>(i * 7) % (kind.most() + 1));
    }
    const CodeSteps steps = code_steps(kind, -0.3F, 1.7F);
    std::vector<std::byte> stored(kind.step_bytes());
    write_steps(kind, steps, stored.data());
    EXPECT_EQ(read_steps(kind, stored.data()).step, steps.step);
    EXPECT_EQ(read_steps(kind, stored.data()).zero, steps.zero);
  }
  EXPECT_EQ(CodeKind({4, false, false}).bytes(33), 17U);
  EXPECT_EQ(CodeKind({2, true, false}).bytes(32), 8U);
}

}  // namespace
}  // namespace kv::model
