// Which token of a pool is evicted, compared with the plainest implementation.
#include "kvcheck/sim/cache/pooled_scores.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <rapidcheck.h>

namespace kv {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Going = std::vector<std::vector<std::size_t>>;

struct Contents {
  std::vector<double> scores;
  std::vector<Position> positions;
};

Going lowest(const std::vector<Contents>& units, std::size_t mean, std::size_t floor) {
  std::vector<PooledUnit> pool;
  for (const Contents& unit : units) pool.push_back({unit.scores, unit.positions});
  return lowest_of_pool(pool, mean, floor);
}

TEST(PooledScores, TheLowestOfAllGo) {
  const std::vector<Contents> units = {{{5, 1, 6}, {3, 4, 8}}, {{2, 7, 3}, {3, 4, 8}}};
  EXPECT_THAT(lowest(units, 2, 0), ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(lowest(units, 1, 0), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 2)));
  EXPECT_THAT(lowest(units, 3, 0), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(PooledScores, AUnitKeepsWhatItIsSureOf) {
  const std::vector<Contents> units = {{{1, 2, 3, 4}, {0, 1, 2, 3}}, {{9, 8, 7, 6}, {0, 1, 2, 3}}};
  EXPECT_THAT(lowest(units, 2, 0), ElementsAre(ElementsAre(0, 1, 2, 3), IsEmpty()));
  EXPECT_THAT(lowest(units, 2, 1), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3)));
  EXPECT_THAT(lowest(units, 2, 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

// Of equals the older, and of those equally old the last unit's.
TEST(PooledScores, EqualsGoByAgeAndThenByUnit) {
  const std::vector<Contents> units = {{{1, 1}, {5, 6}}, {{1, 1}, {4, 6}}};
  EXPECT_THAT(lowest(units, 1, 0), ElementsAre(ElementsAre(0), ElementsAre(0)));
  const std::vector<Contents> alike = {{{1, 1}, {5, 6}}, {{1, 1, 1}, {5, 6, 7}}};
  EXPECT_THAT(lowest(alike, 2, 0), ElementsAre(IsEmpty(), ElementsAre(0)));
}

// Strikes out one after the other.
Going one_by_one(const std::vector<Contents>& units, std::size_t mean, std::size_t floor) {
  Going going(units.size());
  std::vector<std::vector<std::size_t>> left(units.size());
  std::size_t all = 0;
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (std::size_t i = 0; i < units[u].scores.size(); ++i) left[u].push_back(i);
    all += left[u].size();
  }
  for (; all > mean * units.size(); --all) {
    std::size_t unit = units.size();
    std::size_t lowest = 0;
    for (std::size_t u = 0; u < units.size(); ++u) {
      if (left[u].size() <= floor) continue;
      for (const std::size_t i : left[u]) {
        const auto key = std::pair(units[u].scores[i], units[u].positions[i]);
        if (unit < units.size() &&
            key > std::pair(units[unit].scores[lowest], units[unit].positions[lowest])) {
          continue;
        }
        unit = u;
        lowest = i;
      }
    }
    std::erase(left[unit], lowest);
    going[unit].push_back(lowest);
  }
  for (auto& each : going) std::ranges::sort(each);
  return going;
}

TEST(PooledScores, AreWhatStrikingOutLeaves) {
  const auto below = [](std::uint32_t n) {
    return *rc::gen::resize(100, rc::gen::inRange<std::uint32_t>(0, n));
  };
  EXPECT_TRUE(rc::check([&] {
    std::vector<Contents> units(1 + below(4));
    for (Contents& unit : units) {
      const std::uint32_t n = below(9);
      for (std::uint32_t i = 0; i < n; ++i) {
        unit.scores.push_back(below(5));
        unit.positions.push_back(2 * i + below(2));
      }
    }
    const std::size_t mean = below(6);
    const std::size_t floor = mean == 0 ? 0 : below(static_cast<std::uint32_t>(mean) + 1);
    RC_ASSERT(lowest(units, mean, floor) == one_by_one(units, mean, floor));
  }));
}

TEST(PooledScores, ANaNIsEvictedLast) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Contents> units = {{{nan, 1, nan}, {3, 4, 8}}, {{2, nan, 3}, {3, 4, 8}}};
  EXPECT_THAT(lowest(units, 2, 0), ElementsAre(ElementsAre(1), ElementsAre(0)));
  // So many that an order with gaps would lead nth_element out of its range.
  const std::size_t n = 1000;
  Contents many{std::vector<double>(n, nan), {}};
  for (std::size_t i = 0; i < n; ++i) many.positions.push_back(static_cast<Position>(i));
  for (std::size_t i = 0; i < n; i += 3) many.scores[i] = static_cast<double>(i % 7);
  const Going going = lowest({many}, n - n / 3, n / 5);
  ASSERT_EQ(going[0].size(), n / 3);
  for (const std::size_t index : going[0]) EXPECT_EQ(index % 3, 0U);
}

}  // namespace
}  // namespace kv
