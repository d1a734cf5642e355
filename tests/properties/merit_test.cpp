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
int accusations(Family& family, std::uint32_t sinks) {
  const Law& law = *find_law("attention.stale-scores");
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
