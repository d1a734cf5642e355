#include "kvcheck/policies/content/paged_eviction.h"

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

// Pages of two; each token's value is that long, and its key that.
Kept kept_by(MiniCache cache, const std::vector<std::pair<float, float>>& lengths) {
  const auto policy = make_paged_eviction(2);
  ScriptedDraws draws;
  for (const auto& [value, key] : lengths) {
    feed_head(cache, *policy, draws, {.key = {0, key}, .value = {value, 0}});
  }
  return cache.residents;
}

// The means of pages 0 and 1 are (1 + 5) / 2 and (2 + 2) / 2, though page 0 has the lowest token.
TEST(PagedEviction, EvictsThePageWithTheLowestMean) {
  EXPECT_EQ(kept_by({.capacity = 4}, {{1, 1}, {5, 1}, {2, 1}, {2, 1}, {9, 1}}), (Kept{0, 1, 4}));
}

TEST(PagedEviction, DividesByTheLengthOfTheKey) {
  EXPECT_EQ(kept_by({.capacity = 4}, {{1, 1}, {5, 8}, {2, 1}, {2, 1}, {9, 1}}), (Kept{2, 3, 4}));
}

TEST(PagedEviction, EvictsTheOlderOfEqualPages) {
  EXPECT_EQ(kept_by({.capacity = 4}, {{1, 1}, {2, 1}, {2, 1}, {1, 1}, {9, 1}}), (Kept{2, 3, 4}));
}

// Token 4 is alone on its page, so the lowest score does not matter.
TEST(PagedEviction, KeepsThePageThatIsNotFull) {
  EXPECT_EQ(kept_by({.capacity = 4}, {{3, 1}, {3, 1}, {2, 1}, {2, 1}, {0, 1}}), (Kept{0, 1, 4}));
}

// Page 0 holds a sink and page 2 a recent token: only page 1 is in the middle as a whole.
TEST(PagedEviction, KeepsPagesOfSinksAndRecentTokens) {
  EXPECT_EQ(kept_by({.sinks = 1, .recent = 1, .capacity = 3},
                    {{1, 1}, {1, 1}, {9, 1}, {9, 1}, {1, 1}, {1, 1}}),
            (Kept{0, 1, 4, 5}));
}

TEST(PagedEviction, EvictsTheOldestTokenIfNoPageIsWhole) {
  EXPECT_EQ(kept_by({.sinks = 1, .capacity = 1}, {{9, 1}, {5, 1}, {1, 1}}), (Kept{0, 2}));
}

}  // namespace
}  // namespace kv
