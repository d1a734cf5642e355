// The comparisons that ./dev test fp16 runs with the instruction of AVX512-FP16, here with its
// emulation: it agrees with exact integers, and every wrong rotation is found.
#include "kvcheck/tests/fp16/comparisons.h"
#include "kvcheck/tests/fp16/drift.h"
#include "kvcheck/tests/fp16/inputs.h"

#include "kvcheck/base/half.h"

namespace kv::fp16 {
namespace {

using testing::IsEmpty;

void expect_agreement(const Comparison& comparison) {
  EXPECT_TRUE(comparison.agrees()) << comparison.name << ": " << comparison.first;
  EXPECT_GT(comparison.results, 5'000U) << comparison.name;
  EXPECT_THAT(comparison.first, IsEmpty());
}

TEST(Fp16, TheEmulationIsExact) {
  const Comparison random = compare_random(emulation(), 4, 1);
  const Comparison every = compare_every_number(emulation(), 2);
  for (const Comparison& comparison : {random, every}) {
    expect_agreement(comparison);
    EXPECT_EQ(comparison.exact, comparison.results);
  }
}

TEST(Fp16, TheInstructionOfThisMachineIsExact) {
  const model::RotateKernels& best = *model::supported_rotate_kernels().front();
  if (!best.complex_instruction) GTEST_SKIP() << "this processor has no AVX512-FP16";
  const Comparison shapes = compare_shapes(best.rotate_f16, 20);
  const Comparison pages = compare_beside_unmapped_pages(best.rotate_f16);
  const Comparison random = compare_random(best.rotate_f16, 4, 1);
  const Comparison every = compare_every_number(best.rotate_f16, 2);
  for (const Comparison& comparison : {shapes, pages, random, every}) {
    expect_agreement(comparison);
  }
  EXPECT_EQ(random.exact, random.results);
}

TEST(Fp16, ExactIntegersGiveTheSameBitsInEveryShape) {
  expect_agreement(compare_shapes(rotation_by(product), 20));
  expect_agreement(compare_beside_unmapped_pages(rotation_by(product)));
}

TEST(Fp16, EveryWrongRotationIsFound) {
  for (const WrongRotation& wrong : wrong_rotations(emulation())) {
    const Comparison shapes = compare_shapes(wrong.rotate, 20);
    EXPECT_FALSE(shapes.agrees()) << wrong.name;
    EXPECT_THAT(shapes.first, testing::HasSubstr(" numbers with ")) << wrong.name;
  }
  for (const WrongArithmetic& wrong : wrong_arithmetics()) {
    const Comparison random = compare_random(rotation_by(wrong.of), 2, 1);
    EXPECT_GT(random.different, 100U) << wrong.name;
    EXPECT_EQ(random.different, random.exact_differ) << wrong.name;
    EXPECT_THAT(random.first, testing::HasSubstr(": found ")) << wrong.name;
  }
}

TEST(Fp16, ExactIntegersSeeBothLayouts) {
  const Rotate right = emulation();
  const Rotate conjugate = rotation_by(wrong_arithmetics()[4].of);
  for (const RopeLayout layout : {RopeLayout::half, RopeLayout::interleaved}) {
    const auto tried = [&](const model::RotatedRows& rows, const std::uint16_t* angles) {
      (rows.layout == layout ? conjugate : right)(rows, angles);
    };
    EXPECT_GT(compare_random(tried, 8, 4).exact_differ, 100U);
  }
}

// The kernel's own multiplication with its operands exchanged is the one of exact integers.
TEST(Fp16, OperandsAreExchangedAsIntegersSay) {
  const std::vector<WrongRotation> wrong = wrong_rotations(emulation());
  const Comparison kernel = compare_random(wrong.front().rotate, 2, 1);
  const Comparison integers = compare_random(rotation_by(wrong_arithmetics().front().of), 2, 1);
  EXPECT_EQ(kernel.different, integers.different);
  EXPECT_EQ(kernel.first, integers.first);
}

TEST(Fp16, TheEmulationDriftsAsDocumented) {
  for (const DocumentedDrift& documented : documented_drift) {
    const Drift drift = drift_of(emulation(), documented.base);
    EXPECT_TRUE(is_as_documented(drift, documented)) << documented.base;
    EXPECT_FALSE(is_as_documented(drift, documented_drift[documented.base == 1e4 ? 1 : 0]));
  }
}

// An edge of each rounding, by hand: 1 + 2^-10 squared is 1 + 2^-9 + 2^-20, whose last part is lost
// in the first product and kept in the second one.
TEST(Fp16, RoundsTheProductWithTheRealPartOfTheAngleFirst) {
  constexpr std::uint16_t one = 0x3C00;
  constexpr std::uint16_t above = 0x3C01;  // 1 + 2^-10
  constexpr std::uint16_t largest = 0x7BFF;
  EXPECT_EQ(product({above, 0}, {above, 0}), (Complex{0x3C02, 0}));
  // Real: (1 + 2^-9) - (1 + 2^-9 + 2^-20) is -2^-20.
  EXPECT_EQ(product({above, above}, {above, above}).real, f32_to_f16(-0x1p-20F));
  EXPECT_EQ(product({largest, largest}, {largest, 0}), (Complex{0x7C00, 0x7C00}));
  EXPECT_EQ(product({0x0001, 0}, {0x3800, 0}), (Complex{0, 0})) << "a tie goes to even";
  EXPECT_EQ(product({0x0003, 0}, {0x3800, 0}), (Complex{2, 0})) << "a tie goes to even";
  EXPECT_EQ(product({one, 0}, {0x8000, 0x8000}), (Complex{0, 0x8000})) << "signs of zeros";
}

TEST(Fp16, InputsAreFiniteAndOfEveryKind) {
  Inputs inputs(1);
  int subnormal = 0;
  int negative = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto [key, angle] = inputs.factors();
    for (const std::uint16_t number : {key.real, key.imaginary, angle.real, angle.imaginary}) {
      ASSERT_NE(number & 0x7C00, 0x7C00);
      subnormal += (number & 0x7C00) == 0 ? 1 : 0;
      negative += (number & 0x8000) != 0 ? 1 : 0;
    }
  }
  EXPECT_GT(subnormal, 8'000);
  EXPECT_NEAR(negative, 40'000, 2'000);
}

}  // namespace
}  // namespace kv::fp16
