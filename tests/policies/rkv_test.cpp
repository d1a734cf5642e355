#include "kvcheck/policies/attention/rkv.h"

#include "kvcheck/sim/cache/rope_rotation.h"
#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;
using Keys = std::vector<std::vector<float>>;

// Tokens with keys of one head; the last pays as `last` says, those before it even shares.
Kept kept_by(const RkvOptions& options,
             MiniCache cache,
             const Keys& keys,
             const std::vector<float>& last = {}) {
  const auto policy = make_rkv(options);
  ScriptedDraws draws;
  for (const std::vector<float>& key : keys) {
    const std::size_t n = cache.residents.size() + 1;
    std::vector<float> mass(n, 1.0F / static_cast<float>(n));
    if (&key == &keys.back() && !last.empty()) mass = last;
    feed(cache, *policy, draws, {.mass = mass, .keys = {key, key.size()}});
  }
  return cache.residents;
}

// 0, 2 and 3 have parallel keys. 0 is charged for its likeness to 2 and 3. 2 is the newest
// look-alike of 3, so it is charged for 0 only; 3 is that of 0 and 2, so it is not charged. The
// means of cosines are 2/4, 0, 1/4 and 0, their softmax .334, .203, .260 and .203.
const Keys thrice = {{1, 0}, {0, 3}, {2, 0}, {5, 0}};
const std::vector<float> paid = {0.5F, 0.1F, 0.15F, 0.25F};

TEST(Rkv, DropsTheOldestOfThreeAlike) {
  EXPECT_EQ(kept_by({.lambda = 0}, {.recent = 1, .capacity = 2}, thrice, paid), (Kept{1, 2, 3}));
}

// Scores of 0, 1 and 2: -.251, -.172, -.219 at .1; .083, -.051, -.055 at .5; .417, .070, .109 at
// .9.
TEST(Rkv, WeighsImportanceAgainstRedundancy) {
  const MiniCache cache{.recent = 1, .capacity = 2};
  const auto kept = [&](double lambda) {
    return kept_by({.window = 1, .kernel = 1, .lambda = lambda}, cache, thrice, paid);
  };
  EXPECT_EQ(kept(0.1), (Kept{1, 2, 3}));
  EXPECT_EQ(kept(0.5), (Kept{0, 1, 3}));
  EXPECT_EQ(kept(0.9), (Kept{0, 2, 3}));
}

// 1, paid least, has the heaviest token beside it; 2 has not. The last two queries' means are .2,
// .1, .08 and .3 but for the last token.
TEST(Rkv, PoolsWhatItsWindowPaysOverNeighbours) {
  const Keys apart = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}};
  const MiniCache cache{.recent = 1, .capacity = 3};
  const std::vector<float> last = {0.5F, 0, 0.1F, 0.2F, 0.2F};
  EXPECT_EQ(kept_by({.window = 1, .kernel = 1, .lambda = 1}, cache, apart, last),
            (Kept{0, 2, 3, 4}));
  EXPECT_EQ(kept_by({.window = 1, .kernel = 3, .lambda = 1}, cache, apart, last),
            (Kept{0, 1, 3, 4}));
}

// Cosines: .6 of 0 and 1, .8 of 1 and 2. At a threshold of .5 each token's newest
// look-alike is not charged for it: 0 is charged .6 and the others nothing. At .9 there are no
// look-alikes, so all cosines are charged: .6, 1.4 and .8.
TEST(Rkv, KeepsTheNewestOfThoseAboveTheThresholdOnly) {
  const Keys keys = {{1, 0}, {3, 4}, {0, 1}};
  EXPECT_EQ(kept_by({.lambda = 0, .threshold = 0.5}, {.capacity = 2}, keys), (Kept{1, 2}));
  EXPECT_EQ(kept_by({.lambda = 0, .threshold = 0.9}, {.capacity = 2}, keys), (Kept{0, 2}));
}

TEST(Rkv, TakesAKeyOfLengthZeroToBeLikeNothing) {
  EXPECT_EQ(kept_by({.lambda = 0, .threshold = 0.9}, {.capacity = 2}, {{0, 0}, {1, 0}, {1, 1}}),
            (Kept{0, 2}));
  EXPECT_EQ(kept_by({.lambda = 0}, {.capacity = 2}, {{1, 0}, {0, 0}, {-1, 0}}), (Kept{0, 2}));
}

// Two tokens alone are charged the same, whatever their keys; rounding must not tell them apart.
TEST(Rkv, DropsTheOlderOfTwo) {
  for (int i = 0; i < 60; ++i) {
    const auto number = [i](int by) { return static_cast<float>((i * by) % 64 - 31) / 8; };
    EXPECT_EQ(kept_by({}, {.capacity = 1}, {{number(7), number(11)}, {number(13), number(17)}}),
              (Kept{1}));
  }
}

// Two heads' keys side by side. In the first alone 2 would go.
TEST(Rkv, AveragesItsHeads) {
  const auto policy = make_rkv({.lambda = 0, .threshold = 0.9});
  ScriptedDraws draws;
  MiniCache cache{.capacity = 2};
  for (const std::vector<float>& both :
       {std::vector<float>{1, 0, 0, 1}, {0, 1, 0.6F, 0.8F}, {0.6F, 0.8F, 1, 0}}) {
    const std::vector<float> mass(cache.residents.size() + 1, 1);
    feed(cache, *policy, draws, {.mass = mass, .keys = {both, 2}});
  }
  // Sums of cosines in the first head: .6, .8, 1.4; in the second: .8, 1.4, .6.
  EXPECT_EQ(cache.residents, (Kept{0, 2}));
}

// 0 to 3 are all alike. At first 3 is not charged, as the newest look-alike of the others; once 3
// is evicted, 2 is not.
TEST(Rkv, FindsTheNextLookAlikeOnceTheNewestHasGone) {
  const auto policy = make_rkv({.window = 1, .kernel = 1, .lambda = 0.9});
  ScriptedDraws draws;
  MiniCache cache{.capacity = 3};
  const auto next = [&](const std::vector<float>& key, const std::vector<float>& mass) {
    feed(cache, *policy, draws, {.mass = mass, .keys = {key, key.size()}});
  };
  next({1, 0}, {1});
  next({1, 0}, {0.5F, 0.5F});
  next({1, 0}, {0.4F, 0.3F, 0.3F});
  // 3, the newest look-alike of 0, 1 and 2, is paid nothing and is evicted at once.
  next({1, 0}, {0.4F, 0.3F, 0.3F, 0});
  EXPECT_EQ(cache.residents, (Kept{0, 1, 2}));
  // Now 0 is charged for 1 and 2, 1 for 0 only, and 2 and 4 for none. The charge of 0 outweighs
  // what it is paid above the others. If all cosines were charged, 0, 1 and 2 would be charged
  // alike and 1 would be evicted.
  next({0, 1}, {0.252F, 0.249F, 0.249F, 0.25F});
  EXPECT_EQ(cache.residents, (Kept{1, 2, 4}));
}

// The last two queries pay 0 and 1 together .03 and .65. As shares of what they saw, the second
// counts most and prefers 0; as shares of the middle both count alike and the first prefers 1.
TEST(Rkv, CountsMassesAsSharesOfTheMiddleIfAsked) {
  for (const bool of_middle : {false, true}) {
    const auto policy = make_rkv({.window = 2, .kernel = 1, .lambda = 1, .of_middle = of_middle});
    ScriptedDraws draws;
    MiniCache cache{.recent = 2, .capacity = 1};
    const std::vector<float> key = {1, 0};
    for (const std::vector<float>& mass :
         {std::vector<float>{1}, {0.5F, 0.5F}, {0.01F, 0.02F, 0.97F}, {0.35F, 0.3F, 0.2F, 0.15F}}) {
      feed(cache, *policy, draws, {.mass = mass, .keys = {key, 2}});
    }
    EXPECT_EQ(cache.residents, of_middle ? (Kept{1, 2, 3}) : (Kept{0, 2, 3}));
  }
}

// Cosines: .96 of 0 and 1, .8 of 0 and 2, .6 of 1 and 2, none above .99. 0 is charged most, unless
// the others exempt it.
TEST(Rkv, LetsLoneKeysExemptTheFirstResidentIfAsked) {
  const Keys keys = {{0.8F, 0.6F}, {0.6F, 0.8F}, {1, 0}};
  EXPECT_EQ(kept_by({.lambda = 0, .threshold = 0.99}, {.capacity = 2}, keys), (Kept{1, 2}));
  EXPECT_EQ(kept_by({.lambda = 0, .threshold = 0.99, .exempts_first = true}, {.capacity = 2}, keys),
            (Kept{0, 2}));
}

// All keys are (1, 0) before rotation: all are alike, and the oldest is charged most. Rotated to 0,
// 1 and 2 radians, the middle one is. At ranks the same holds of each three, while at positions 0,
// 2 and 3 the cosines are -.42, -.99 and .54, so that 2 is charged .12, and at 0, 3 and 4 they are
// -.99, -.65 and .54, so that 4 is charged -.11.
TEST(Rkv, ComparesKeysAsTheCacheStoresThem) {
  const RopeRotation radians({RopeLayout::interleaved, 2, 10000});
  const auto kept = [&](bool rotated, bool at_ranks) {
    const auto policy = make_rkv({.lambda = 0, .threshold = 0.9, .rotated = rotated});
    policy->rotate_by(&radians, at_ranks);
    ScriptedDraws draws;
    MiniCache cache{.capacity = 2};
    const std::vector<float> key = {1, 0};
    for (int i = 0; i < 5; ++i) {
      const std::vector<float> mass(cache.residents.size() + 1, 1);
      feed(cache, *policy, draws, {.mass = mass, .keys = {key, 2}});
    }
    return cache.residents;
  };
  EXPECT_EQ(kept(true, false), (Kept{0, 3}));
  EXPECT_EQ(kept(true, true), (Kept{0, 4}));
  EXPECT_EQ(kept(false, false), (Kept{3, 4}));
}

}  // namespace
}  // namespace kv
