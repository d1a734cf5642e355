#include "kvcheck/policies/position/pages.h"

#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

Kept kept_by(std::size_t page, FirstPage first, MiniCache cache, std::size_t tokens) {
  ScriptedDraws draws;
  const auto policy = make_pages(page, first);
  cache.stream(tokens, *policy, draws);
  return cache.residents;
}

// Pages of two: {0,1} is pinned; when 1 to 5 are in a middle of four, {2,3} is evicted.
TEST(Pages, DropTheOldestPageButThePinnedOne) {
  const MiniCache cache{.sinks = 1, .recent = 1, .capacity = 4};
  EXPECT_EQ(kept_by(2, FirstPage::pinned, cache, 6), (Kept{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(kept_by(2, FirstPage::pinned, cache, 7), (Kept{0, 1, 4, 5, 6}));
  EXPECT_EQ(kept_by(2, FirstPage::pinned, cache, 9), (Kept{0, 1, 6, 7, 8}));
}

TEST(Pages, FreeWhatTheFirstPageHoldsBesideSinksIfItIsNotPinned) {
  const MiniCache cache{.sinks = 1, .recent = 1, .capacity = 4};
  EXPECT_EQ(kept_by(2, FirstPage::freed, cache, 7), (Kept{0, 2, 3, 4, 5, 6}));
}

TEST(Pages, OfOneTokenAreAQueue) {
  EXPECT_EQ(kept_by(1, FirstPage::freed, {.sinks = 1, .recent = 1, .capacity = 2}, 9),
            (Kept{0, 6, 7, 8}));
}

TEST(Pages, DropTheNewestWhereOnlyThePinnedPageIsLeft) {
  EXPECT_EQ(kept_by(16, FirstPage::pinned, {.recent = 1, .capacity = 3}, 7), (Kept{0, 1, 2, 6}));
}

TEST(Pages, MaskTheRestOfTheFirstPageWhereItWouldBeFreed) {
  const MiniCache cache{.sinks = 1, .recent = 1, .capacity = 4};
  EXPECT_EQ(kept_by(2, FirstPage::masked, cache, 9), kept_by(2, FirstPage::freed, cache, 9));
  const auto masked_below = [](FirstPage first, std::size_t sinks) {
    return make_pages(16, first)->masked_below(sinks);
  };
  EXPECT_EQ(masked_below(FirstPage::masked, 4), 16U);
  EXPECT_EQ(masked_below(FirstPage::masked, 16), 16U);
  EXPECT_EQ(masked_below(FirstPage::masked, 20), 32U);
  EXPECT_EQ(masked_below(FirstPage::masked, 0), 0U);
  EXPECT_EQ(masked_below(FirstPage::freed, 4), 0U);
  EXPECT_EQ(masked_below(FirstPage::pinned, 4), 0U);
}

}  // namespace
}  // namespace kv
