#include "kvcheck/policies/attention/snapkv.h"

#include "kvcheck/policies/policy.h"
#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

// Three tokens before the last have 0.1, 0.05 and 0.8 of its attention; one must go.
MiniCache after_four(Policy& policy, Draws& draws) {
  MiniCache cache{.recent = 1, .capacity = 2};
  for (const auto& row :
       {std::vector<float>{1}, {0.5F, 0.5F}, {0.2F, 0.7F, 0.1F}, {0.1F, 0.05F, 0.8F, 0.05F}}) {
    feed_row(cache, policy, draws, row);
  }
  return cache;
}

std::vector<Position> kept_by(const SnapkvOptions& options) {
  ScriptedDraws draws;
  return after_four(*make_snapkv(options), draws).residents;
}

TEST(Snapkv, KeepsWhatTheLastQueryAttendsToWithoutPooling) {
  EXPECT_THAT(kept_by({.window = 1, .kernel = 1}), testing::ElementsAre(0, 2, 3));
}

TEST(Snapkv, LendsAHeavyTokensVotesToItsNeighbours) {
  // The largest of neighbours: 0.1, 0.8, 0.8. Their sums: 0.15, 0.95, 0.85.
  EXPECT_THAT(kept_by({.window = 1, .kernel = 3}), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(kept_by({.window = 1, .kernel = 3, .largest = false}), testing::ElementsAre(1, 2, 3));
}

// Summed over two queries: 0.3, 0.75 and 0.9.
TEST(Snapkv, LetsAllQueriesOfItsWindowVote) {
  EXPECT_THAT(kept_by({.window = 2, .kernel = 1}), testing::ElementsAre(1, 2, 3));
}

TEST(Snapkv, SelectsForGoodWhenAskedOnce) {
  const auto policy = make_snapkv({.window = 1, .kernel = 1, .once = true});
  ScriptedDraws draws;
  MiniCache cache = after_four(*policy, draws);
  feed_row(cache, *policy, draws, {0, 0, 1, 0});
  EXPECT_THAT(cache.residents, testing::ElementsAre(0, 2, 4));
  feed_row(cache, *policy, draws, {0, 0, 1, 0});
  EXPECT_THAT(cache.residents, testing::ElementsAre(0, 2, 5));
}

}  // namespace
}  // namespace kv
