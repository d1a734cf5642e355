#include "kvcheck/sim/cache/visible.h"

#include <tuple>

namespace kv {
namespace {

using Runs = std::vector<std::tuple<Position, std::size_t, std::size_t>>;

const std::vector<Position> middle = {4, 5, 8, 10, 11, 12};
const Visible visible = {{0, 2}, middle, {20, 23}};

Runs runs_of(const Visible& some) {
  Runs runs;
  for_each_run_before_recent(some, [&](Position first, std::size_t count, std::size_t rank) {
    runs.emplace_back(first, count, rank);
  });
  return runs;
}

TEST(Visible, PositionsAndRanksAgreeInStreamOrder) {
  std::vector<Position> positions;
  for_each_position(visible, [&](Position p) { positions.push_back(p); });
  EXPECT_THAT(positions, testing::ElementsAre(0, 1, 4, 5, 8, 10, 11, 12, 20, 21, 22));
  ASSERT_EQ(positions.size(), visible.size());
  for (std::size_t rank = 0; rank < positions.size(); ++rank) {
    EXPECT_EQ(visible.position_of(rank), positions[rank]) << rank;
  }
}

TEST(Visible, ContainsItsPositionsAndNoOther) {
  std::vector<Position> contained;
  for (Position p = 0; p < 30; ++p) {
    if (visible.contains(p)) contained.push_back(p);
  }
  EXPECT_THAT(contained, testing::ElementsAre(0, 1, 4, 5, 8, 10, 11, 12, 20, 21, 22));
}

TEST(Visible, RunsAreOfConsecutivePositionsWithTheRankOfTheFirst) {
  EXPECT_EQ(runs_of(visible), (Runs{{0, 2, 0}, {4, 2, 2}, {8, 1, 4}, {10, 3, 5}}));
}

TEST(Visible, WithoutSinksOrMiddleThereAreNoSuchRuns) {
  EXPECT_EQ(runs_of({{0, 0}, {}, {3, 9}}), Runs{});
  EXPECT_EQ(runs_of({{0, 0}, middle, {}}).front(),
            (std::tuple<Position, std::size_t, std::size_t>{4, 2, 0}));
}

}  // namespace
}  // namespace kv
