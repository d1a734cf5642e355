#include "kvcheck/sim/cache/rope_rotation.h"

#include <array>
#include <cmath>

namespace kv {
namespace {

const std::array<Rope, 3> ropes = {Rope{RopeLayout::interleaved, 8, 10000},
                                   Rope{RopeLayout::half, 8, 500000},
                                   Rope{RopeLayout::half, 4, 100}};

const std::vector<float> vector = {1, -2, 0.5F, 3, -1, 0.25F, 2, -0.75F};

std::vector<float> turned(const Rotation& rotation, Position first, std::size_t count) {
  std::vector<PairTurn> turns;
  rotation.mean_turns(first, count, turns);
  std::vector<float> out = vector;
  turn_pairs<float>(turns, false, out);
  return out;
}

TEST(RopeRotation, TurnsAsTheTableDoes) {
  for (const Rope& rope : ropes) {
    const RopeTable table(rope, 1001);
    for (const Position position : {0U, 1U, 17U, 1000U}) {
      std::vector<float> wanted(vector.size());
      table.rotate(vector.data(), vector.size(), position, wanted.data());
      EXPECT_THAT(turned(RopeRotation(rope), position, 1),
                  testing::Pointwise(testing::FloatNear(1e-5F), wanted));
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
    const std::vector<float> wanted(sums.begin(), sums.end());
    EXPECT_THAT(turned(RopeRotation(rope), 100, 512),
                testing::Pointwise(testing::FloatNear(1e-5F), wanted));
  }
}

TEST(RopeRotation, TurnsBackwardsByTheTranspose) {
  const RopeRotation rotation(ropes[1]);
  std::vector<PairTurn> turns;
  rotation.mean_turns(5, 1, turns);
  std::vector<double> numbers(vector.begin(), vector.end());
  turn_pairs<double>(turns, false, numbers);
  turn_pairs<double>(turns, true, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(numbers[i], static_cast<double>(vector[i]), 1e-12);
  }
}

TEST(RopeRotation, TurnsNothingWithoutRotaryPositions) {
  EXPECT_EQ(turned(RopeRotation(Rope{}), 9, 3), vector);
}

TEST(RopeRotation, TurnsByFrequenciesOfTheCallersOwn) {
  std::vector<PairTurn> turns;
  RopeRotation({RopeLayout::interleaved, 4, 10000}, {0.5, 0}).mean_turns(2, 3, turns);
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_NEAR(turns[0].cosine, (std::cos(1.0) + std::cos(1.5) + std::cos(2.0)) / 3, 1e-12);
  EXPECT_NEAR(turns[0].sine, (std::sin(1.0) + std::sin(1.5) + std::sin(2.0)) / 3, 1e-12);
  EXPECT_EQ(turns[1].cosine, 1);
  EXPECT_EQ(turns[1].sine, 0);
}

}  // namespace
}  // namespace kv
