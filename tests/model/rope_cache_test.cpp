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
    EXPECT_EQ(cache.rows(), 1024U);
  }
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
