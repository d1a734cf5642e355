#include "kvcheck/policies/attention/scissorhands.h"

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

std::vector<Position> kept_with(std::size_t history) {
  const auto policy = make_scissorhands(history, 0);
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 2};
  for (const auto& row :
       {std::vector<float>{1}, {0.1F, 0.9F}, {0.8F, 0.1F, 0.1F}, {0.1F, 0.7F, 0.1F, 0.1F}}) {
    feed_row(cache, *policy, draws, row);
  }
  return cache.residents;
}

// Below the mean were 0 at the queries 1 and 3, 1 at 2, and 2 at 2 and 3.
TEST(Scissorhands, DropsTheTokenMostOftenBelowTheMean) {
  EXPECT_THAT(kept_with(400), testing::ElementsAre(1, 2, 3));
}

TEST(Scissorhands, LooksBackNoFurtherThanItsHistory) {
  EXPECT_THAT(kept_with(2), testing::ElementsAre(0, 1, 3));
}

TEST(Scissorhands, DropsItsPercentageOfTheMiddleAtOnce) {
  const auto policy = make_scissorhands(70, 50);
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 4};
  std::vector<std::size_t> sizes;
  for (std::size_t t = 0; t < 12; ++t) {
    const std::size_t n = cache.residents.size() + 1;
    feed_row(cache, *policy, draws, std::vector<float>(n, 1.0F / static_cast<float>(n)));
    sizes.push_back(cache.residents.size());
  }
  // Five in the middle become two.
  EXPECT_THAT(sizes, testing::ElementsAre(1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3));
}

}  // namespace
}  // namespace kv
