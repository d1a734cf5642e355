#include "kvcheck/sim/replay/cell_state.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

using ::testing::ElementsAre;
using enum RecordedUnits;

std::vector<Cell> cells_with(const std::string& spec, std::size_t seeds) {
  std::vector<Cell> cells;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    cells.push_back({.spec = parse_spec(spec, {}).value(), .seed = seed});
  }
  return cells;
}

// 100 tokens of 8 query heads: 800 entries.
TraceInfo small_info() {
  TraceInfo info;
  info.tokens = 100;
  info.layers = {0, 1};
  info.query_heads = 4;
  return info;
}

TEST(RecordedUnits, AreAllOfASpecsFirstSeedsAndOneOfItsOthers) {
  std::vector<Cell> cells = cells_with("random:budget=8", 3);
  cells.push_back(cells_with("window:budget=8", 1)[0]);
  EXPECT_THAT(recorded_units(small_info(), cells, 1600), ElementsAre(all, all, one, all));
  EXPECT_THAT(recorded_units(small_info(), cells, 799), ElementsAre(one, one, one, one));
}

TEST(RecordedUnits, AreThoseOfFewSeeds) {
  const std::vector<Cell> cells = cells_with("random:budget=8", most_recorded_seeds + 2);
  const auto recorded = recorded_units(small_info(), cells, 1'000'000);
  EXPECT_EQ(recorded[most_recorded_seeds - 1], all);
  EXPECT_EQ(recorded[most_recorded_seeds], none);
  EXPECT_EQ(recorded.back(), none);
}

TEST(RecordedUnits, AreAsFewAsCanBeWhereNoEntriesAreAskedFor) {
  EXPECT_THAT(recorded_units(small_info(), cells_with("random:budget=8", 2), 0),
              ElementsAre(one, none));
}

TEST(RecordedUnits, OfAReplayAreOfEachSeed) {
  const std::vector<Cell> cells = cells_with("random:budget=8", 2);
  const auto result = replay(random_qkv_trace({}), cells, {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->cells[0].residency.size(), 4U);
  ASSERT_EQ(result->cells[1].residency.size(), 4U);
  EXPECT_NE(result->cells[0].residency[0].evicted_at, result->cells[1].residency[0].evicted_at);
}

}  // namespace
}  // namespace kv
