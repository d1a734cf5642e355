#include "kvcheck/sim/cache/rope_rotation.h"

#include <array>
#include <cmath>

namespace kv {
namespace {

const std::array<Rope, 3> ropes = {Rope{RopeLayout::interleaved, 8, 10000},
                                   Rope{RopeLayout::half, 8, 500000},
                                   Rope{RopeLayout::half, 4, 100}};

const std::vector<float> vector = {1, -2, 0.5F, 3, -1, 0.25F, 2, -0.75F};

std::vector<float> rotated(const Rotation& rotation, Position first, std::size_t count) {
  std::vector<PairRotation> rotations;
  rotation.mean_rotations(first, count, rotations);
  std::vector<float> out = vector;
  rotate_pairs<float>(rotations, false, out);
  return out;
}

TEST(RopeRotation, RotatesAsTheTableDoes) {
  for (const Rope& rope : ropes) {
    const RopeTable table(rope, 1001);
    for (const Position position : {0U, 1U, 17U, 1000U}) {
      std::vector<float> requested(vector.size());
      table.rotate(vector.data(), vector.size(), position, requested.data());
      EXPECT_THAT(rotated(RopeRotation(rope), position, 1),
                  testing::Pointwise(testing::FloatNear(1e-5F), requested));
    }
  }
}

TEST(RopeRotation, AveragesOverPositions) {
  for (const Rope& rope : ropes) {
    const RopeTable table(rope, 700);
    std::vector<double> sums(vector.size());
    for (Position position = 100; position < 612; ++position) {
      std::vector<float> one(vector.size());
      table.rotate(vector.data(), vector.size(), position, one.data());
      for (std::size_t i = 0; i < one.size(); ++i) sums[i] += static_cast<double>(one[i]) / 512;
    }
    const std::vector<float> requested(sums.begin(), sums.end());
    EXPECT_THAT(rotated(RopeRotation(rope), 100, 512),
                testing::Pointwise(testing::FloatNear(1e-5F), requested));
  }
}

TEST(RopeRotation, RotatesBackwardsByTheTranspose) {
  const RopeRotation rotation(ropes[1]);
  std::vector<PairRotation> rotations;
  rotation.mean_rotations(5, 1, rotations);
  std::vector<double> numbers(vector.begin(), vector.end());
  rotate_pairs<double>(rotations, false, numbers);
  rotate_pairs<double>(rotations, true, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(numbers[i], static_cast<double>(vector[i]), 1e-12);
  }
}

TEST(RopeRotation, RotatesNothingWithoutRotaryPositions) {
  EXPECT_EQ(rotated(RopeRotation(Rope{}), 9, 3), vector);
}

TEST(RopeRotation, RotatesByFrequenciesOfTheCallersOwn) {
  std::vector<PairRotation> rotations;
  RopeRotation({RopeLayout::interleaved, 4, 10000}, {0.5, 0}).mean_rotations(2, 3, rotations);
  ASSERT_EQ(rotations.size(), 2U);
  EXPECT_NEAR(rotations[0].cosine, (std::cos(1.0) + std::cos(1.5) + std::cos(2.0)) / 3, 1e-12);
  EXPECT_NEAR(rotations[0].sine, (std::sin(1.0) + std::sin(1.5) + std::sin(2.0)) / 3, 1e-12);
  EXPECT_EQ(rotations[1].cosine, 1);
  EXPECT_EQ(rotations[1].sine, 0);
}

}  // namespace
}  // namespace kv
