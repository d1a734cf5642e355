#include "kvcheck/policies/attention/kvzip.h"

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

// Two of the tokens 0 to 2 are kept. The last query pays them 0.1, 0.3 and `last`; queries before
// it paid token 0 the most.
Kept kept_after(float last) {
  const auto policy = make_kvzip(8);
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 2};
  for (const std::vector<float>& mass : std::vector<std::vector<float>>{
           {1.0F}, {0.9F, 0.1F}, {0.8F, 0.1F, 0.1F}, {0.1F, 0.3F, last, 0.1F}}) {
    feed(cache, *policy, draws, {.mass = mass});
  }
  return cache.residents;
}

TEST(Kvzip, KeepsTheLargestMassOfTheLastObservation) {
  EXPECT_EQ(kept_after(0.25F), (Kept{1, 2, 3}));
  EXPECT_EQ(kept_after(0.05F), (Kept{0, 1, 3}));
}

TEST(Kvzip, EvictsTheOldestAmongEquals) {
  EXPECT_EQ(kept_after(0.1F), (Kept{1, 2, 3}));
}

TEST(Kvzip, NeedsTheAttentionOfARepetitionAndNothingOfTheStream) {
  const Needs needs = make_kvzip(8)->needs();
  EXPECT_TRUE(needs.attention);
  EXPECT_EQ(needs.reconstruction, 8U);
  EXPECT_FALSE(needs.of_stream().any());
  EXPECT_TRUE((Needs{.attention = true}).of_stream().attention);
}

}  // namespace
}  // namespace kv
