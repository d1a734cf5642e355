#include "kvcheck/policies/content/q_filters.h"

#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/rope_rotation.h"
#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

Kept kept_by(Policy& policy, const std::vector<OneHead>& tokens) {
  ScriptedDraws draws;
  MiniCache cache{.capacity = 2};
  for (const OneHead& token : tokens) feed_head(cache, policy, draws, token);
  return cache.residents;
}

// Queries lie along (2,1), most of them forwards. The keys reach 0, 2 and -5 far along it, times
// the root of 5.
TEST(QFilters, EvictsTheKeyThatReachesLeastFarAlongTheQueries) {
  const std::vector<OneHead> tokens = {{.key = {1, -2}, .query = {2, 1}},
                                       {.key = {4, 2}, .query = {4, 2}},
                                       {.key = {-10, -5}, .query = {-2, -1}}};
  EXPECT_EQ(kept_by(*make_q_filters(0), tokens), (Kept{0, 1}));
}

// The same with all queries reversed: the direction is oriented by their mean.
TEST(QFilters, OrientsTheDirectionByTheMeanQuery) {
  const std::vector<OneHead> tokens = {{.key = {1, -2}, .query = {-2, -1}},
                                       {.key = {4, 2}, .query = {-4, -2}},
                                       {.key = {-10, -5}, .query = {2, 1}}};
  EXPECT_EQ(kept_by(*make_q_filters(0), tokens), (Kept{0, 2}));
}

// The mean query is (0, 1), but the queries vary along (1, 0), where they are longest.
TEST(QFilters, TakesTheLongestDirectionAndNotTheMean) {
  const std::vector<OneHead> tokens = {{.key = {3, 0}, .query = {9, 1}},
                                       {.key = {0, 8}, .query = {-8, 1}},
                                       {.key = {2, 0}, .query = {0, 1}}};
  EXPECT_EQ(kept_by(*make_q_filters(0), tokens), (Kept{0, 2}));
}

// The first filter is along (1, 0); the next two queries move it to (0, 1).
TEST(QFilters, RenewsItsFiltersIfAsked) {
  const std::vector<OneHead> tokens = {{.key = {5, 0}, .query = {1, 0}},
                                       {.key = {4, 4}, .query = {1, 0}},
                                       {.key = {3, 3}, .query = {1, 0}},
                                       {.key = {2, 5}, .query = {0, 9}}};
  EXPECT_EQ(kept_by(*make_q_filters(0), tokens), (Kept{0, 1}));
  EXPECT_EQ(kept_by(*make_q_filters(1), tokens), (Kept{1, 3}));
}

// Keys and queries are along (1, 0) before rotation by 0, 1 and 2 radians. The direction is then
// the middle one, so that the shortest key reaches farthest.
TEST(QFilters, ComparesKeysAndQueriesAfterRotation) {
  const RopeRotation radians({RopeLayout::interleaved, 2, 10000});
  const std::vector<OneHead> tokens = {{.key = {1, 0}, .query = {1, 0}},
                                       {.key = {0.9F, 0}, .query = {1, 0}},
                                       {.key = {1.1F, 0}, .query = {1, 0}}};
  const auto policy = make_q_filters(0);
  EXPECT_EQ(kept_by(*policy, tokens), (Kept{0, 2}));
  const auto rotated = make_q_filters(0);
  rotated->rotate_by(&radians, false);
  EXPECT_EQ(kept_by(*rotated, tokens), (Kept{1, 2}));
}

}  // namespace
}  // namespace kv
