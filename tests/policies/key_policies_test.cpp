// The policies that look at keys, values and queries, on cases worked by hand.
#include "kvcheck/policies/attention/expected_attention.h"
#include "kvcheck/policies/content/key_norm.h"
#include "kvcheck/policies/content/keydiff.h"
#include "kvcheck/policies/content/lagkv.h"
#include "kvcheck/policies/content/semantic_blocks.h"
#include "kvcheck/policies/policy.h"
#include "kvcheck/sim/cache/rope_rotation.h"
#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

Kept kept_by(Policy& policy, MiniCache cache, const std::vector<OneHead>& tokens) {
  ScriptedDraws draws;
  for (const OneHead& token : tokens) feed_head(cache, policy, draws, token);
  return cache.residents;
}

// One pair of channels, rotated by one radian a position.
const RopeRotation& radians() {
  static const RopeRotation rotation({RopeLayout::interleaved, 2, 10000});
  return rotation;
}

TEST(KeyNorm, DropsTheLongestKeyWheneverOneMustGo) {
  const MiniCache cache{.capacity = 2};
  std::vector<OneHead> tokens = {{.key = {0, 1}}, {.key = {3, 4}}, {.key = {2, 0}}};
  EXPECT_EQ(kept_by(*make_key_norm(), cache, tokens), (Kept{0, 2}));
  tokens.push_back({.key = {3, 0}});
  EXPECT_EQ(kept_by(*make_key_norm(), cache, tokens), (Kept{0, 2}));
  tokens.push_back({.key = {-1, 0}});
  EXPECT_EQ(kept_by(*make_key_norm(), cache, tokens), (Kept{0, 4}));
}

// The anchor of (1,0), (1,0) and (0,1) is along (2,1): the first two are most like it, and the
// older of them is evicted. Lengths do not count.
TEST(Keydiff, DropsTheKeyMostLikeTheOthers) {
  const MiniCache cache{.capacity = 2};
  EXPECT_EQ(
      kept_by(*make_keydiff(true), cache, {{.key = {1, 0}}, {.key = {9, 0}}, {.key = {0, 2}}}),
      (Kept{1, 2}));
  EXPECT_EQ(
      kept_by(*make_keydiff(true), cache, {{.key = {0, 1}}, {.key = {9, 1}}, {.key = {9, 0}}}),
      (Kept{0, 2}));
}

// A sink that points elsewhere moves the anchor though it may not go.
TEST(Keydiff, CountsSinksAndRecentTokensIntoTheAnchor) {
  const MiniCache cache{.sinks = 1, .recent = 1, .capacity = 1};
  const OneHead along{.key = {1, 0}};
  const OneHead across{.key = {0, 1}};
  EXPECT_EQ(kept_by(*make_keydiff(true), cache, {across, along, across, across}), (Kept{0, 1, 3}));
  EXPECT_EQ(kept_by(*make_keydiff(true), cache, {along, along, across, along}), (Kept{0, 2, 3}));
}

// All keys are (1, 0) before rotation, so that the oldest is evicted. Rotated they are at 0, 1, 2,
// ... radians. Of 0, 1 and 2 radians the middle one is most like the others, and so it is whenever
// residents close up to the ranks 0, 1 and 2. At their positions, of 0, 2 and 3 radians it is 2,
// and of 0, 3 and 4 radians it is 4.
TEST(Keydiff, ComparesKeysAsTheCacheStoresThem) {
  const std::vector<OneHead> tokens(5, {.key = {1, 0}});
  const auto kept = [&](bool rotated, bool at_ranks) {
    const auto policy = make_keydiff(rotated);
    policy->rotate_by(&radians(), at_ranks);
    return kept_by(*policy, {.capacity = 2}, tokens);
  };
  EXPECT_EQ(kept(true, false), (Kept{0, 3}));
  EXPECT_EQ(kept(true, true), (Kept{0, 4}));
  EXPECT_EQ(kept(false, false), (Kept{3, 4}));
  EXPECT_EQ(kept(false, true), (Kept{3, 4}));
}

// Token 0: against (0,0) and (4,0) its channels stand at 8/4 = 2 and 0: deviation 1. Token 1:
// against (4,0) and (2,4) they stand at (0-2)/2 = -1 and 0: deviation 1/2, so it is evicted.
TEST(Lagkv, DropsTheTokenThatIsPlainBesideTheTokensAfterIt) {
  const std::vector<OneHead> tokens = {{.key = {8, 0}, .value = {0, 0}},
                                       {.key = {0, 0}, .value = {0, 0}},
                                       {.key = {4, 0}, .value = {0, 0}},
                                       {.key = {2, 4}, .value = {0, 0}}};
  EXPECT_EQ(
      kept_by(*make_lagkv(2, LagPartitions::none, true), {.recent = 2, .capacity = 1}, tokens),
      (Kept{0, 2, 3}));
}

// The same with a value that stands out: (6,0) against (0,0) and (2,0) is at 3 and 0: 3/2 more.
TEST(Lagkv, AddsWhatTheValueSays) {
  const std::vector<OneHead> tokens = {{.key = {8, 0}, .value = {0, 0}},
                                       {.key = {0, 0}, .value = {6, 0}},
                                       {.key = {4, 0}, .value = {0, 0}},
                                       {.key = {2, 4}, .value = {2, 0}}};
  EXPECT_EQ(
      kept_by(*make_lagkv(2, LagPartitions::none, true), {.recent = 2, .capacity = 1}, tokens),
      (Kept{1, 2, 3}));
}

// Token 0 stands out and token 1 does not, but its piece's reference is not complete yet: the
// oldest is evicted.
TEST(Lagkv, LetsTheOldestGoWhileNoPartitionIsScored) {
  const std::vector<OneHead> tokens = {{.key = {8, 0}, .value = {0, 0}},
                                       {.key = {0, 0}, .value = {0, 0}},
                                       {.key = {4, 0}, .value = {0, 0}}};
  const MiniCache cache{.recent = 1, .capacity = 1};
  EXPECT_EQ(kept_by(*make_lagkv(2, LagPartitions::none, true), cache, tokens), (Kept{0, 2}));
  EXPECT_EQ(kept_by(*make_lagkv(2, LagPartitions::ranked, true), cache, tokens), (Kept{1, 2}));
}

// Pieces of two. Beside piece 2, from (0,0) to (1,1), token 2 is at 0, 0 and token 3 at 5, 0: a
// softmax of 0.03 and 0.97. Beside piece 1, from (0,0) to (5,0), tokens 0 and 1 are at 1, 0 and
// 0.8, 0: 0.54 and 0.46. By place within its piece 1 is as low as 2, and older; by score 2 is
// lower.
TEST(Lagkv, ThinsPartitionsAlikeByPlaceAndAsAWholeByScore) {
  const std::vector<std::vector<float>> keys = {{5, 3}, {4, 0}, {0, 0}, {5, 0}, {0, 0}, {1, 1}};
  std::vector<OneHead> tokens;
  for (const auto& key : keys) tokens.push_back({.key = key, .value = {0, 0}});
  const MiniCache cache{.recent = 2, .capacity = 3};
  EXPECT_EQ(kept_by(*make_lagkv(2, LagPartitions::ranked, true), cache, tokens),
            (Kept{0, 2, 3, 4, 5}));
  EXPECT_EQ(kept_by(*make_lagkv(2, LagPartitions::scored, true), cache, tokens),
            (Kept{0, 1, 3, 4, 5}));
}

// With a sink, pieces begin after it: 0 is none of theirs.
TEST(Lagkv, CutsPartitionsBehindTheSinks) {
  const std::vector<std::vector<float>> keys = {{9, 9}, {5, 3}, {4, 0}, {0, 0},
                                                {5, 0}, {0, 0}, {1, 1}};
  std::vector<OneHead> tokens;
  for (const auto& key : keys) tokens.push_back({.key = key, .value = {0, 0}});
  const MiniCache cache{.sinks = 1, .recent = 2, .capacity = 3};
  EXPECT_EQ(kept_by(*make_lagkv(2, LagPartitions::scored, true), cache, tokens),
            (Kept{0, 1, 2, 4, 5, 6}));
}

// All keys are (1, 0) before rotation: references do not vary, and the oldest is evicted. Rotated
// by radians, 0 is at 1.5 and -12.4 beside 1 and 2, but 1 at 2.7 and 0.9 beside 2 and 3.
TEST(Lagkv, ComparesKeysAsTheCacheStoresThem) {
  const std::vector<OneHead> tokens(4, {.key = {1, 0}, .value = {0, 0}});
  for (const bool rotated : {true, false}) {
    const auto policy = make_lagkv(2, LagPartitions::none, rotated);
    policy->rotate_by(&radians(), false);
    EXPECT_EQ(kept_by(*policy, {.recent = 2, .capacity = 1}, tokens),
              rotated ? (Kept{0, 2, 3}) : (Kept{1, 2, 3}));
  }
}

std::vector<OneHead> numbers(const std::vector<float>& keys,
                             const std::vector<float>& values,
                             const std::vector<float>& queries) {
  std::vector<OneHead> tokens;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tokens.push_back({.key = {keys[i]}, .value = {values[i]}, .query = {queries[i]}});
  }
  return tokens;
}

constexpr auto plain = Covariance::none;

Kept kept(const ExpectedAttentionOptions& options,
          const MiniCache& cache,
          const std::vector<OneHead>& tokens) {
  return kept_by(*make_expected_attention(options), cache, tokens);
}

// All queries are 1: keys 2, -1 and 1 expect e^2, e^-1 and e^1 parts of attention.
TEST(ExpectedAttention, DropsTheKeyFarthestFromTheMeanQuery) {
  EXPECT_EQ(kept({}, {.capacity = 2}, numbers({2, -1, 1}, {1, 1, 1}, {1, 1, 1})), (Kept{0, 2}));
}

// A value of length 100 makes up for it: 100 e^-1 is more than e^2.
TEST(ExpectedAttention, WeighsWithTheValuesLengthIfAsked) {
  const auto tokens = numbers({2, -1, 1}, {1, -100, 1}, {1, 1, 1});
  EXPECT_EQ(kept({.covariance = plain}, {.capacity = 2}, tokens), (Kept{0, 1}));
  EXPECT_EQ(kept({.covariance = plain, .value_norm = false}, {.capacity = 2}, tokens),
            (Kept{0, 2}));
}

// The queries 1, -2 and 1 have the mean 0 and the variance 2: keys expect e^(k^2). Without the
// covariance all expect the same and the oldest is evicted.
TEST(ExpectedAttention, CountsOnQueriesThatVary) {
  const auto tokens = numbers({2, -3, 1}, {1, 1, 1}, {1, -2, 1});
  EXPECT_EQ(kept({}, {.capacity = 2}, tokens), (Kept{0, 1}));
  EXPECT_EQ(kept({.covariance = plain}, {.capacity = 2}, tokens), (Kept{1, 2}));
}

// Queries vary along (1,1) only: across it, (1.2,-1.2) expects nothing, but channel by channel more
// than (1,1).
TEST(ExpectedAttention, SeesWhatChannelsHaveInCommonOnlyWithAllPairs) {
  const std::vector<OneHead> tokens = {{.key = {1, 1}, .value = {1}, .query = {1, 1}},
                                       {.key = {1.2F, -1.2F}, .value = {1}, .query = {-1, -1}},
                                       {.key = {3, 3}, .value = {1}, .query = {0, 0}}};
  EXPECT_EQ(kept({.covariance = Covariance::full, .value_norm = false}, {.capacity = 2}, tokens),
            (Kept{0, 2}));
  EXPECT_EQ(kept({.value_norm = false}, {.capacity = 2}, tokens), (Kept{1, 2}));
}

// All keys and queries are (1, 0) before rotation. A query at position 5 meets a key at p
// rotated by 5 - p: the cosines of 5 to 1 are 0.28, -0.65, -0.99, -0.42 and 0.54, so that 2
// expects least.
TEST(ExpectedAttention, RotatesQueriesToTheNextPositions) {
  const std::vector<OneHead> tokens(5, {.key = {1, 0}, .value = {1}, .query = {1, 0}});
  for (const std::size_t future : {0U, 1U, 2U}) {
    const auto policy =
        make_expected_attention({.covariance = plain, .value_norm = false, .future = future});
    policy->rotate_by(&radians(), false);
    EXPECT_EQ(kept_by(*policy, {.capacity = 4}, tokens),
              future == 0 ? (Kept{1, 2, 3, 4}) : (Kept{0, 1, 3, 4}));
  }
  const auto unturned =
      make_expected_attention({.covariance = plain, .value_norm = false, .future = 1});
  EXPECT_EQ(kept_by(*unturned, {.capacity = 4}, tokens), (Kept{1, 2, 3, 4}));
}

// Keys 3, 1 and 0 expect e^3, e^1 and e^0 parts of attention; values have the lengths 1, 1 and 2.
// With the first key in the sum, the others expect .11 and .04, scores of .11 and .08, and of .21
// and .28 with an epsilon of .1. Without it they expect .73 and .27: scores of .83 and .74 with .1,
// of .93 and .94 with .2.
TEST(ExpectedAttention, AddsEpsilonToSharesOfAllOrOfTheMiddle) {
  const auto tokens = numbers({3, 1, 0}, {1, 1, 2}, {1, 1, 1});
  const auto of = [&](bool of_middle, double epsilon) {
    return kept({.covariance = plain, .of_middle = of_middle, .epsilon = epsilon},
                {.sinks = 1, .capacity = 1}, tokens);
  };
  EXPECT_EQ(of(false, 0), (Kept{0, 1}));
  EXPECT_EQ(of(false, 0.1), (Kept{0, 2}));
  EXPECT_EQ(of(true, 0.1), (Kept{0, 1}));
  EXPECT_EQ(of(true, 0.2), (Kept{0, 2}));
}

// The mean query is 1 without the first, and -1 with it.
TEST(ExpectedAttention, LeavesOutTheFirstQueries) {
  const auto tokens = numbers({2, -1, 1}, {1, 1, 1}, {-5, 1, 1});
  EXPECT_EQ(kept({.covariance = plain, .skip = 1}, {.capacity = 2}, tokens), (Kept{0, 2}));
  EXPECT_EQ(kept({.covariance = plain}, {.capacity = 2}, tokens), (Kept{1, 2}));
  // No query counts, so all expect the same, and the oldest is evicted.
  EXPECT_EQ(kept({.skip = 3}, {.capacity = 2}, tokens), (Kept{1, 2}));
}

OneHead asking(const std::vector<float>& key, const std::vector<float>& query) {
  return {.key = key, .query = query};
}

TEST(SemanticBlocks, KeepsTheBlockMostLikeTheLastQuery) {
  const std::vector<float> x = {1, 0};
  const std::vector<float> y = {0, 1};
  const auto blocks = [](const std::vector<float>& last) {
    const std::vector<float> near_x = {2, 0};
    return std::vector<OneHead>{asking({1, 0}, near_x), asking({1, 0}, near_x),
                                asking({0, 1}, near_x), asking({0, 1}, last)};
  };
  const MiniCache cache{.capacity = 3};
  EXPECT_EQ(kept_by(*make_semantic_blocks(2, true), cache, blocks(y)), (Kept{2, 3}));
  EXPECT_EQ(kept_by(*make_semantic_blocks(2, true), cache, blocks(x)), (Kept{0, 1}));
}

// Twice as long but half across: the inner product prefers it, the cosine does not.
TEST(SemanticBlocks, TellsCosineFromInnerProduct) {
  const std::vector<OneHead> tokens = {asking({1, 0}, {1, 0}), asking({1, 0}, {1, 0}),
                                       asking({2, 2}, {1, 0}), asking({2, 2}, {1, 0})};
  const MiniCache cache{.capacity = 3};
  EXPECT_EQ(kept_by(*make_semantic_blocks(2, true), cache, tokens), (Kept{0, 1}));
  EXPECT_EQ(kept_by(*make_semantic_blocks(2, false), cache, tokens), (Kept{2, 3}));
}

TEST(SemanticBlocks, HandsTheRestBack) {
  const std::vector<OneHead> tokens(7, asking({1, 0}, {1, 0}));
  // Three blocks of two and one over: two blocks fit beside it.
  ScriptedDraws draws;
  MiniCache cache{.recent = 0, .capacity = 5};
  const auto policy = make_semantic_blocks(2, true);
  for (std::size_t i = 0; i < 7; ++i) {
    cache.append();
    policy->observe({.query = cache.seen - 1,
                     .keys = {tokens[i].key, 2},
                     .values = {},
                     .queries = {tokens[i].query, 2}});
  }
  cache.trim(*policy, draws, policy->leaving());
  EXPECT_EQ(cache.residents, (Kept{2, 3, 4, 5, 6}));
  // No block fits, nor does all of the rest.
  EXPECT_EQ(kept_by(*make_semantic_blocks(4, true), {.capacity = 2},
                    {tokens.begin(), tokens.begin() + 3}),
            (Kept{1, 2}));
}

// All keys and queries are (1, 0) before rotation. The query at 4 meets the keys rotated by 4 to 0:
// the cosine of 3 is the lowest.
TEST(SemanticBlocks, CompareRotatedKeysIfAsked) {
  const std::vector<OneHead> tokens(5, asking({1, 0}, {1, 0}));
  for (const bool rotated : {false, true}) {
    const auto policy = make_semantic_blocks(1, true, rotated);
    policy->rotate_by(&radians(), false);
    EXPECT_EQ(kept_by(*policy, {.capacity = 4}, tokens),
              rotated ? (Kept{0, 2, 3, 4}) : (Kept{1, 2, 3, 4}));
  }
}

}  // namespace
}  // namespace kv
