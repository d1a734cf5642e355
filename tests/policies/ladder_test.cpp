#include "kvcheck/policies/position/ladder.h"

#include "kvcheck/policies/position/fifo.h"
#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

struct Steps {
  std::size_t keep = 1;
  std::size_t drop = 1;
  LadderOrder order = LadderOrder::rising;
};

// What a layer keeps of so many tokens.
Kept kept_in(const LayerOf& layer, const Steps& steps, MiniCache cache, std::size_t tokens) {
  ScriptedDraws draws;
  const auto policy = make_ladder(steps.keep, steps.drop, steps.order);
  policy->set_layer(layer);
  cache.stream(tokens, *policy, draws);
  return cache.residents;
}

// Token by token: which of 0 to 3 is evicted first, then which of the two after the survivor.
TEST(Ladder, SweepsTheMiddleFromItsOldestPairOn) {
  const MiniCache cache{.recent = 1, .capacity = 4};
  EXPECT_EQ(kept_in({0, 2}, {}, cache, 6), (Kept{0, 2, 3, 4, 5}));  // of 0 and 1
  EXPECT_EQ(kept_in({0, 2}, {}, cache, 7), (Kept{0, 2, 4, 5, 6}));  // of 2 and 3
  EXPECT_EQ(kept_in({0, 2}, {}, cache, 8), (Kept{0, 2, 4, 6, 7}));  // of 4 and 5
  EXPECT_EQ(kept_in({1, 2}, {}, cache, 8), (Kept{1, 3, 5, 6, 7}));
}

// What the first sweep left is thinned again: the shallow layer evicts token 2, the
// deep one token 1.
TEST(Ladder, BeginsAgainWhenNoRunIsLeft) {
  const MiniCache cache{.recent = 1, .capacity = 4};
  EXPECT_EQ(kept_in({0, 2}, {}, cache, 9), (Kept{0, 2, 4, 6, 8}));
  EXPECT_EQ(kept_in({0, 2}, {}, cache, 10), (Kept{0, 4, 6, 8, 9}));
  EXPECT_EQ(kept_in({1, 2}, {}, cache, 10), (Kept{3, 5, 7, 8, 9}));
}

// Span 4, overlap 2 in 8 layers: runs of three, two of which each layer keeps. Token 1 is kept in
// all, 0 in the shallow half, 2 in the deep one.
TEST(Ladder, HoldsEveryTokenOfARunInNeighbouringLayers) {
  const MiniCache cache{.recent = 0, .capacity = 5};
  for (std::size_t layer = 0; layer < 8; ++layer) {
    EXPECT_EQ(kept_in({layer, 8}, {.keep = 2}, cache, 6),
              layer < 4 ? (Kept{0, 1, 3, 4, 5}) : (Kept{1, 2, 3, 4, 5}));
  }
}

TEST(Ladder, TakesLayersOneAfterAnotherAsTheCodeDoes) {
  const MiniCache cache{.recent = 0, .capacity = 5};
  const Steps steps{.drop = 2, .order = LadderOrder::interleaved};
  for (std::size_t layer = 0; layer < 8; ++layer) {
    Kept kept = {0, 1, 2};
    std::erase_if(kept, [&](Position p) { return p != layer % 3; });
    kept.insert(kept.end(), {3, 4, 5, 6});
    EXPECT_EQ(kept_in({layer, 8}, steps, cache, 7), kept);
  }
}

TEST(Ladder, LosesOneOfAMiddleThatIsSmallerThanARun) {
  const Steps steps{.keep = 5, .drop = 5};
  EXPECT_EQ(kept_in({0, 2}, steps, {.recent = 1, .capacity = 2}, 9), (Kept{0, 1, 8}));
  EXPECT_EQ(kept_in({1, 2}, steps, {.recent = 1, .capacity = 2}, 9), (Kept{6, 7, 8}));
}

// All but one of the middle are kept: the deepest layer drops the oldest, as a queue does.
TEST(Ladder, IsAQueueInTheDeepestLayerWhereARunIsTheMiddle) {
  ScriptedDraws draws;
  MiniCache queue{.sinks = 2, .recent = 3, .capacity = 6};
  queue.stream(40, *make_fifo(), draws);
  EXPECT_EQ(kept_in({1, 2}, {.keep = 100}, {.sinks = 2, .recent = 3, .capacity = 6}, 40),
            queue.residents);
}

}  // namespace
}  // namespace kv
