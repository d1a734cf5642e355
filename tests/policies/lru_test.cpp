#include "kvcheck/policies/attention/lru.h"

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

// Token 1 is last used by query 2, token 0 by query 3, and token 2 only by itself, at query 2. Of 1
// and 2 the older is evicted.
TEST(Lru, DropsTheTokenThatWasUnusedForLongest) {
  const auto policy = make_lru();
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 2};
  for (const auto& row : {std::vector<float>{1}, {0.5F, 0.5F}, {0, 1, 0}, {0.7F, 0, 0.2F, 0.1F}}) {
    feed_row(cache, *policy, draws, row);
  }
  EXPECT_THAT(cache.residents, testing::ElementsAre(0, 2, 3));
}

// Even attention uses all, however 1/n is rounded: then the oldest is evicted.
TEST(Lru, IsAQueueUnderEvenAttention) {
  const auto policy = make_lru();
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 6};
  for (std::size_t t = 0; t < 40; ++t) {
    const std::size_t n = cache.residents.size() + 1;
    feed_row(cache, *policy, draws, std::vector<float>(n, 1.0F / static_cast<float>(n)));
  }
  EXPECT_THAT(cache.residents, testing::ElementsAre(33, 34, 35, 36, 37, 38, 39));
}

}  // namespace
}  // namespace kv
