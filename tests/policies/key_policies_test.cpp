// The policies that look at keys, values and queries, on cases worked by hand.
#include "policies/expected_attention.h"
#include "policies/key_norm.h"
#include "policies/keydiff.h"
#include "policies/lagkv.h"
#include "policies/semantic_blocks.h"
#include "tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

Kept kept_by(Policy& policy, MiniCache cache, const std::vector<OneHead>& tokens) {
  ScriptedDraws draws;
  for (const OneHead& token : tokens) feed_head(cache, policy, draws, token);
  return cache.residents;
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

// The anchor of (1,0), (1,0) and (0,1) is along (2,1): the first two are most like it, and of them
// the older goes. Lengths do not count.
TEST(Keydiff, DropsTheKeyMostLikeTheOthers) {
  const MiniCache cache{.capacity = 2};
  EXPECT_EQ(kept_by(*make_keydiff(), cache, {{.key = {1, 0}}, {.key = {9, 0}}, {.key = {0, 2}}}),
            (Kept{1, 2}));
  EXPECT_EQ(kept_by(*make_keydiff(), cache, {{.key = {0, 1}}, {.key = {9, 1}}, {.key = {9, 0}}}),
            (Kept{0, 2}));
}

// A sink that points elsewhere moves the anchor though it may not go.
TEST(Keydiff, CountsSinksAndRecentTokensIntoTheAnchor) {
  const MiniCache cache{.sinks = 1, .recent = 1, .capacity = 1};
  const OneHead along{.key = {1, 0}};
  const OneHead across{.key = {0, 1}};
  EXPECT_EQ(kept_by(*make_keydiff(), cache, {across, along, across, across}), (Kept{0, 1, 3}));
  EXPECT_EQ(kept_by(*make_keydiff(), cache, {along, along, across, along}), (Kept{0, 2, 3}));
}

// Token 0: against (0,0) and (4,0) its channels stand at 8/4 = 2 and 0: deviation 1. Token 1:
// against (4,0) and (2,4) they stand at (0-2)/2 = -1 and 0: deviation 1/2, so it goes.
TEST(Lagkv, DropsWhoIsPlainBesideTheTokensAfterIt) {
  const std::vector<OneHead> tokens = {{.key = {8, 0}, .value = {0, 0}},
                                       {.key = {0, 0}, .value = {0, 0}},
                                       {.key = {4, 0}, .value = {0, 0}},
                                       {.key = {2, 4}, .value = {0, 0}}};
  EXPECT_EQ(kept_by(*make_lagkv(2), {.recent = 2, .capacity = 1}, tokens), (Kept{0, 2, 3}));
}

// The same with a value that stands out: (6,0) against (0,0) and (2,0) is at 3 and 0: 3/2 more.
TEST(Lagkv, AddsWhatTheValueSays) {
  const std::vector<OneHead> tokens = {{.key = {8, 0}, .value = {0, 0}},
                                       {.key = {0, 0}, .value = {6, 0}},
                                       {.key = {4, 0}, .value = {0, 0}},
                                       {.key = {2, 4}, .value = {2, 0}}};
  EXPECT_EQ(kept_by(*make_lagkv(2), {.recent = 2, .capacity = 1}, tokens), (Kept{1, 2, 3}));
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

// All queries are 1: keys 2, -1 and 1 expect e^2, e^-1 and e^1 parts of attention.
TEST(ExpectedAttention, DropsTheKeyFarthestFromTheMeanQuery) {
  const auto policy = make_expected_attention(Covariance::diagonal, true);
  EXPECT_EQ(kept_by(*policy, {.capacity = 2}, numbers({2, -1, 1}, {1, 1, 1}, {1, 1, 1})),
            (Kept{0, 2}));
}

// A value of length 100 makes up for it: 100 e^-1 is more than e^2.
TEST(ExpectedAttention, WeighsWithTheValuesLengthIfAsked) {
  const auto tokens = numbers({2, -1, 1}, {1, -100, 1}, {1, 1, 1});
  EXPECT_EQ(kept_by(*make_expected_attention(Covariance::none, true), {.capacity = 2}, tokens),
            (Kept{0, 1}));
  EXPECT_EQ(kept_by(*make_expected_attention(Covariance::none, false), {.capacity = 2}, tokens),
            (Kept{0, 2}));
}

// The queries 1, -2 and 1 have the mean 0 and the variance 2: keys expect e^(k^2). Without the
// covariance all expect the same and the oldest goes.
TEST(ExpectedAttention, CountsOnQueriesThatVary) {
  const auto tokens = numbers({2, -3, 1}, {1, 1, 1}, {1, -2, 1});
  EXPECT_EQ(kept_by(*make_expected_attention(Covariance::diagonal, true), {.capacity = 2}, tokens),
            (Kept{0, 1}));
  EXPECT_EQ(kept_by(*make_expected_attention(Covariance::none, true), {.capacity = 2}, tokens),
            (Kept{1, 2}));
}

// Queries vary along (1,1) only: across it, (1.2,-1.2) expects nothing, but channel by channel more
// than (1,1).
TEST(ExpectedAttention, SeesWhatChannelsHaveInCommonOnlyWithAllPairs) {
  const std::vector<OneHead> tokens = {{.key = {1, 1}, .value = {1}, .query = {1, 1}},
                                       {.key = {1.2F, -1.2F}, .value = {1}, .query = {-1, -1}},
                                       {.key = {3, 3}, .value = {1}, .query = {0, 0}}};
  EXPECT_EQ(kept_by(*make_expected_attention(Covariance::full, false), {.capacity = 2}, tokens),
            (Kept{0, 2}));
  EXPECT_EQ(kept_by(*make_expected_attention(Covariance::diagonal, false), {.capacity = 2}, tokens),
            (Kept{1, 2}));
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

}  // namespace
}  // namespace kv
