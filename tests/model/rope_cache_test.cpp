// Rows that give way to others rotate as a table does.
#include "kvcheck/model/attention/rope_cache.h"

#include <array>

namespace kv::model {
namespace {

TEST(RopeCache, RotatesLikeATableInAnyOrderOfPositions) {
  constexpr std::array<float, 10> vector = {1, -2, 3, 4, 0.5F, -6, 7, 8, -9, 10};
  for (const RopeLayout layout : {RopeLayout::interleaved, RopeLayout::half}) {
    const Rope rope{layout, 8, 10000};
    const RopeTable table(rope, 5000);
    RopeCache cache(rope, {1, 0.1, 0.01, 0.001});
    for (Position i = 0; i < 3000; ++i) {
      const Position position = i * 1237 % 5000;
      std::array<float, 10> expected{};
      std::array<float, 10> found{};
      table.rotate(vector.data(), vector.size(), position, expected.data());
      if (i == 2000) cache.reserve(700);
      cache.rotate(vector.data(), vector.size(), position, found.data());
      ASSERT_EQ(found, expected) << position;
    }
    EXPECT_GE(cache.rows(), 1024U);
  }
}

// Rotates a vector of two at `count` positions, `step` apart, `times` over.
std::size_t rows_after(Position count, Position step, int times) {
  RopeCache cache({RopeLayout::half, 2, 10000}, {1});
  constexpr std::array<float, 2> vector = {1, 2};
  std::array<float, 2> found{};
  for (int i = 0; i < times; ++i) {
    for (Position k = 0; k < count; ++k) {
      cache.rotate(vector.data(), vector.size(), k * step, found.data());
    }
  }
  return cache.rows();
}

TEST(RopeCache, GrowsForPositionsThatDisplaceEachOther) {
  EXPECT_EQ(rows_after(200, 1, 50), 256U);
  // 200 positions over 4,000, which fall into 128 of the first 256 rows.
  EXPECT_GE(rows_after(200, 20, 50), 1024U);
}

TEST(RopeCache, DoesNotGrowForAWindowThatMovesOn) {
  RopeCache cache({RopeLayout::half, 2, 10000}, {1});
  constexpr std::array<float, 2> vector = {1, 2};
  std::array<float, 2> found{};
  for (Position query = 100; query < 20000; ++query) {
    for (Position back = 0; back < 16; ++back) {
      cache.rotate(vector.data(), vector.size(), query - back, found.data());
    }
  }
  EXPECT_EQ(cache.rows(), 256U);
}

TEST(RopeCache, HasALimit) {
  EXPECT_LE(rows_after(400000, 977, 3) * (2 * sizeof(float) + 8), RopeCache::most_bytes);
}

TEST(RopeCache, CopiesWhatIsNotRotated) {
  RopeCache cache({}, {});
  constexpr std::array<float, 2> vector = {1, 2};
  std::array<float, 2> found{};
  cache.rotate(vector.data(), vector.size(), 1234567, found.data());
  EXPECT_EQ(found, vector);
}

}  // namespace
}  // namespace kv::model
