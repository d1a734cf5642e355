#include "kvcheck/policies/attention/h2o.h"

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

// Tokens gather 2.4, 0.6 and nothing.
const std::vector<std::vector<float>> rows = {{1}, {0.9F, 0.1F}, {0.5F, 0.5F, 0}};

Kept kept_one_by_one(H2oForm form) {
  const auto policy = make_h2o(Normalise::none, form);
  ScriptedDraws draws;
  MiniCache cache{.capacity = 2};
  for (const auto& row : rows) feed_row(cache, *policy, draws, row);
  return cache.residents;
}

TEST(H2o, DropsTheLowestOfAllButInFlexgenWhichAdmitsTheNewcomer) {
  EXPECT_EQ(kept_one_by_one(H2oForm::real_drop), (Kept{0, 1}));
  EXPECT_EQ(kept_one_by_one(H2oForm::mask_simulation), (Kept{0, 1}));
  EXPECT_EQ(kept_one_by_one(H2oForm::flexgen), (Kept{0, 2}));
}

TEST(H2o, RanksAllThatLeaveTogetherInFlexgenToo) {
  const auto policy = make_h2o(Normalise::none, H2oForm::flexgen);
  ScriptedDraws draws;
  MiniCache cache{.capacity = 2};
  for (const auto& row : rows) {
    cache.append();
    policy->observe({.query = cache.seen - 1, .mass = row});
  }
  cache.trim(*policy, draws, policy->leaving());
  EXPECT_EQ(cache.residents, (Kept{0, 1}));
}

TEST(H2o, MasksEvictedTokensInTheSimulationOnly) {
  const auto masked_below = [](H2oForm form) {
    return make_h2o(Normalise::none, form)->masked_below(4);
  };
  EXPECT_EQ(masked_below(H2oForm::mask_simulation), masks_all);
  EXPECT_EQ(masked_below(H2oForm::real_drop), 0U);
  EXPECT_EQ(masked_below(H2oForm::flexgen), 0U);
}

}  // namespace
}  // namespace kv
