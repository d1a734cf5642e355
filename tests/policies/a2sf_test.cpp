#include "kvcheck/policies/attention/a2sf.h"

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

Kept kept_by(double factor, const std::vector<std::vector<float>>& rows) {
  const auto policy = make_a2sf(factor);
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 1};
  for (const std::vector<float>& row : rows) feed_row(cache, *policy, draws, row);
  return cache.residents;
}

// 0 was paid 1 + .5 long ago and .1 now, 1 was paid .5 and then .3. At .5 their sums are
// .25 + .25 + .1 = .6 and .25 + .3 = .55; at .25 they are .29 and .43.
TEST(A2sf, CountsOldQueriesLess) {
  const std::vector<std::vector<float>> rows = {{1}, {0.5F, 0.5F}, {0.1F, 0.3F, 0.6F}};
  EXPECT_EQ(kept_by(1, rows), (Kept{0, 2}));
  EXPECT_EQ(kept_by(0.5, rows), (Kept{0, 2}));
  EXPECT_EQ(kept_by(0.25, rows), (Kept{1, 2}));
  EXPECT_EQ(kept_by(0, rows), (Kept{1, 2}));
}

TEST(A2sf, EvictsTheOlderOfEquals) {
  EXPECT_EQ(kept_by(0, {{1}, {0.5F, 0.5F}, {0.25F, 0.25F, 0.5F}}), (Kept{1, 2}));
}

}  // namespace
}  // namespace kv
