// The law that decisions follow tokens, on caches that delete the wrong score.
#include <algorithm>

#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/accuse.h"

namespace kv::properties {
namespace {

std::unique_ptr<Family> mutant_named(std::string_view name) {
  return std::ranges::find(mutants(), name, &Mutant::name)->make();
}

// In how many of 20 cases the law is broken.
int accusations(Family& family,
                std::uint32_t sinks,
                std::string_view id = "attention.stale-scores") {
  const Law& law = *find_law(id);
  int broken = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::uint32_t recent = 1 + seed % 4;
    const std::uint32_t budget = sinks + recent + 2 + seed % 5;
    const auto what =
        parse_case("sinks=" + std::to_string(sinks) + ",recent=" + std::to_string(recent) +
                   ",budget=" + std::to_string(budget) +
                   ";stream=random,seed=" + std::to_string(seed) + ";calls=f3,f1,f1,f2,f4,f1");
    broken += is_finding(judge_case(law, family, *what)) ? 1 : 0;
  }
  return broken;
}

TEST(StaleScores, AreSeenWhateverTheSinks) {
  for (const char* name : {"score-deleted-one-before", "scores-cut-at-the-end"}) {
    const auto family = mutant_named(name);
    for (const std::uint32_t sinks : {0U, 1U, 4U}) {
      EXPECT_GE(accusations(*family, sinks), 2) << name << " with " << sinks << " sinks";
    }
  }
}

TEST(StaleScores, OfAnIndexOffByTheSinksAreSeenAsSoonAsThereAreSinks) {
  const auto family = mutant_named("score-deleted-off-by-the-sinks");
  EXPECT_EQ(accusations(*family, 0), 0);
  EXPECT_GE(accusations(*family, 1), 2);
  EXPECT_GE(accusations(*family, 4), 2);
}

TEST(StaleScores, AreNotSeenInRightSubjects) {
  for (const RightSubject& right : right_subjects()) {
    const auto family = right.make();
    const auto contract = family->contract(family->requested());
    ASSERT_TRUE(contract) << right.name;
    if (!contract->wants_attention) continue;
    for (const std::uint32_t sinks : {0U, 1U, 4U}) {
      EXPECT_EQ(accusations(*family, sinks), 0) << right.name << " with " << sinks << " sinks";
    }
  }
}

TEST(Inherited, ScoresAreSeenInEveryCase) {
  for (const char* name : {"slot-keeps-its-score", "score-deleted-one-after"}) {
    const auto family = mutant_named(name);
    for (const std::uint32_t sinks : {0U, 1U, 4U}) {
      EXPECT_EQ(accusations(*family, sinks, "attention.inherited"), 20)
          << name << " with " << sinks << " sinks";
    }
  }
}

TEST(Inherited, ScoresAreNotSeenInRightSubjects) {
  for (const RightSubject& right : right_subjects()) {
    const auto family = right.make();
    const auto contract = family->contract(family->requested());
    ASSERT_TRUE(contract) << right.name;
    if (find_law("attention.inherited")->why_not(*contract)) continue;
    EXPECT_EQ(accusations(*family, 1, "attention.inherited"), 0) << right.name;
  }
}

// What makes the law's two runs comparable: nobody but the sink and the planted token gets other
// attention, and no query after the last that is named.
TEST(Inherited, AttentionIsExchangedWithTheFirstTokenAlone) {
  const Stream quiet{.seed = 5, .until = 6};
  Stream loud = quiet;
  loud.planted = 3;
  const std::vector<Token> keys = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}};
  const auto mass = [&](const Stream& stream, std::int32_t query) {
    std::vector<float> out(keys.size());
    visible_mass(stream, {}, {query, 0}, keys, out);
    return out;
  };
  const std::vector<float> before = mass(quiet, 6);
  std::vector<float> after = mass(loud, 6);
  EXPECT_EQ(before[0], 0);
  EXPECT_GT(before[3], 0);
  std::swap(after[0], after[3]);
  EXPECT_EQ(after, before);
  EXPECT_EQ(mass(loud, 7), mass(quiet, 7));
  EXPECT_EQ(mass(loud, 7), mass({.seed = 5}, 7));
}

// Room is made before a query is heard: a mean that only the next chunk lowers is no reason.
TEST(StaleScores, AreJudgedByWhatADecisionHadHeard) {
  const auto family = make_spec_family(
      *parse_spec("h2o:normalise=age;timing=trim-then-attend;visibility=causal", {.budget = 12}));
  for (const char* text :
       {"sinks=3,recent=0,budget=5,seed=54815;stream=sink,seed=790;calls=f17,f17,f17,f12,f1,f1,f1,"
        "f1,f17,f15,f1,f1,f1,f1,f17,f6",
        "sinks=2,recent=0,budget=6,seed=28847;stream=drift,seed=916;calls=f63,f1,f1,f1,f1,f32,"
        "f1"}) {
    const Case what = *parse_case(text);
    EXPECT_EQ(judge_case(*find_law("attention.stale-scores"), *family, what), "") << text;
  }
}

}  // namespace
}  // namespace kv::properties
