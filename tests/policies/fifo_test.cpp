#include "kvcheck/policies/position/fifo.h"

#include "kvcheck/tests/policies/draws.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {
namespace {

TEST(Fifo, DropsTheOldestOfTheMiddle) {
  const auto policy = make_fifo();
  ScriptedDraws draws;
  MiniCache cache{.sinks = 1, .recent = 1, .capacity = 2};
  cache.stream(5, *policy, draws);
  EXPECT_THAT(cache.residents, testing::ElementsAre(0, 2, 3, 4));
  cache.stream(1, *policy, draws);
  EXPECT_THAT(cache.residents, testing::ElementsAre(0, 3, 4, 5));
}

}  // namespace
}  // namespace kv
