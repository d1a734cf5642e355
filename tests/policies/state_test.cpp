// What every policy promises about its state: copies are equal and independent, bytes restore it.
#include <rapidcheck.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "kvcheck/policies/policy.h"
#include "kvcheck/policies/position/keep_recent.h"
#include "kvcheck/tests/policies/every_policy.h"
#include "kvcheck/tests/policies/mini_cache.h"

namespace kv {
namespace {

// Feeds tokens with rows of random mass, in chunks of `chunk`.
void feed(MiniCache& cache, Policy& policy, std::size_t tokens, std::size_t chunk) {
  CounterDraws draws(Rng(7, 0));
  const Rng rows(7, 1);
  for (std::size_t i = 0; i < tokens; ++i) {
    cache.append();
    std::vector<float> mass;
    for (std::size_t rank = 0; rank < cache.residents.size(); ++rank) {
      mass.push_back(
          static_cast<float>(rows.uniform(cache.seen, static_cast<std::uint32_t>(rank))));
    }
    const float sum = std::accumulate(mass.begin(), mass.end(), 0.0F);
    for (float& part : mass) part /= sum;
    // Two kv-heads with two query heads each, of four dimensions.
    std::vector<float> vectors;
    for (std::uint32_t at = 0; at < 16; ++at) {
      vectors.push_back(static_cast<float>(rows.uniform(cache.seen, 1000 + at)) - 0.5F);
    }
    const std::span<const float> all = vectors;
    policy.observe({.query = cache.seen - 1,
                    .mass = mass,
                    .keys = {all.first(8), 4},
                    .values = {all.last(8), 4},
                    .queries = {all, 4},
                    .token_class = static_cast<TokenClass>(rows.below(3, cache.seen, 2000)),
                    .draws = &draws});
    if ((i + 1) % chunk == 0 || i + 1 == tokens) cache.trim(policy, draws, policy.leaving());
  }
}

class EveryPolicy : public testing::TestWithParam<PolicyChoice> {};

TEST_P(EveryPolicy, ContinuesAlikeAfterCloneAndAfterSaveAndLoad) {
  for (const std::size_t before : {0U, 3U, 9U, 10U, 40U, 300U}) {
    MiniCache cache{.sinks = 2, .recent = 3, .capacity = 5};
    const auto original = GetParam().make();
    feed(cache, *original, before, 4);

    ByteWriter writer;
    original->save(writer);
    const auto restored = GetParam().make();
    ByteReader reader(writer.bytes());
    restored->load(reader);
    ASSERT_TRUE(reader.finished()) << reader.finished().error().message;
    const auto clone = original->clone();

    MiniCache of_clone = cache;
    MiniCache of_restored = cache;
    feed(cache, *original, 60, 1);
    feed(of_clone, *clone, 60, 1);
    feed(of_restored, *restored, 60, 1);
    EXPECT_EQ(of_clone.residents, cache.residents) << before;
    EXPECT_EQ(of_restored.residents, cache.residents) << before;
  }
}

TEST_P(EveryPolicy, ReportsBytesThatEndTooEarly) {
  MiniCache cache{.sinks = 2, .recent = 3, .capacity = 5};
  const auto original = GetParam().make();
  feed(cache, *original, 40, 1);
  ByteWriter writer;
  original->save(writer);
  for (std::size_t length = 0; length < writer.bytes().size(); ++length) {
    const auto restored = GetParam().make();
    ByteReader reader(std::span(writer.bytes()).first(length));
    restored->load(reader);
    EXPECT_FALSE(reader.finished()) << length;
  }
}

// The claim constant-size says that a full middle remains full. Other policies never hold more.
TEST_P(EveryPolicy, KeepsSinksRecentTokensAndAFullMiddle) {
  const bool constant = std::ranges::count(GetParam().entry->claims, "constant-size") > 0;
  for (const std::size_t tokens : {1U, 4U, 10U, 11U, 100U}) {
    MiniCache cache{.sinks = 2, .recent = 3, .capacity = 5};
    feed(cache, *GetParam().make(), tokens, 3);
    const auto full = std::min<std::size_t>(tokens, 10);
    ASSERT_TRUE(!constant || cache.residents.size() == full);
    ASSERT_LE(cache.residents.size(), full);
    ASSERT_GE(cache.residents.size(), std::min<std::size_t>(tokens, 5));
    EXPECT_TRUE(std::ranges::is_sorted(cache.residents));
    if (tokens < 2) continue;
    EXPECT_EQ(cache.residents[1], 1U);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, tokens); ++i) {
      EXPECT_EQ(cache.residents[cache.residents.size() - 1 - i], tokens - 1 - i);
    }
  }
}

// What a policy keeps of 200 tokens in chunks of that size.
std::vector<Position> kept_in_chunks(const PolicyChoice& choice, std::size_t chunk) {
  MiniCache cache{.sinks = 2, .recent = 3, .capacity = 5};
  feed(cache, *choice.make(), 200, chunk);
  return cache.residents;
}

bool claims_invariance(const PolicyChoice& choice) {
  return std::ranges::count(choice.entry->claims, "chunk-invariant") > 0;
}

TEST_P(EveryPolicy, DoesNotDependOnChunksIfItSaysSo) {
  if (!claims_invariance(GetParam())) return;
  EXPECT_EQ(kept_in_chunks(GetParam(), 9), kept_in_chunks(GetParam(), 1));
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         EveryPolicy,
                         testing::ValuesIn(every_selecting_policy()),
                         [](const auto& choice) {
                           std::string name = choice.param.name;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

// Else the test above would hold of anything.
TEST(ChunkInvariance, IsNotWhatMostOthersHaveToo) {
  std::size_t others = 0;
  std::size_t dependent = 0;
  for (const PolicyChoice& choice : every_selecting_policy()) {
    if (claims_invariance(choice)) continue;
    ++others;
    if (kept_in_chunks(choice, 9) != kept_in_chunks(choice, 1)) ++dependent;
  }
  EXPECT_GT(2 * dependent, others);
}

TEST(KeepRecent, IsNeverAsked) {
  const auto policy = make_keep_recent();
  CounterDraws draws(Rng(1));
  MiniCache cache{.capacity = 1};
  cache.append();
  cache.append();
  EXPECT_DEATH(cache.trim(*policy, draws, policy->leaving()), "middle");
}

}  // namespace
}  // namespace kv
