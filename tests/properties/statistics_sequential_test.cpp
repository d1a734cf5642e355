// What decides over several looks: two stages, and e-processes.
#include <gtest/gtest.h>

#include <cmath>

#include "kvcheck/properties/sampling/e_process.h"
#include "kvcheck/properties/sampling/escalation.h"
#include "kvcheck/properties/statistics/diagnosis.h"
#include "kvcheck/tests/properties/statistics_samplers.h"

namespace kv::properties {
namespace {

LadderStep step_of(const Shape& shape, const Decide& decide, std::uint64_t streams) {
  return {.where = "n=" + std::to_string(shape.n) + " k=" + std::to_string(shape.k),
          .streams = streams,
          .run = [=](std::uint64_t root, std::uint64_t count) -> Result<std::vector<ChanceTest>> {
            const Counts counts = counted(shape, decide, root, count);
            return std::vector<ChanceTest>{inclusion_test(counts, ChanceLaw::uniform),
                                           trend_test(counts)};
          }};
}

// A step whose p-values are given: the first look's, then the second's.
LadderStep scripted(double first, double second, int& runs) {
  return {
      .where = "scripted",
      .streams = 10,
      .run = [=, &runs](std::uint64_t, std::uint64_t streams) -> Result<std::vector<ChanceTest>> {
        ++runs;
        ChanceTest test;
        test.statistic.name = "T";
        test.statistic.p = streams == 10 ? first : second;
        test.per_root = 0.1;
        return std::vector<ChanceTest>{test};
      }};
}

TEST(Escalation, AsksAgainOnlyInDoubt) {
  struct Expected {
    double first;
    double second;
    int runs;
    bool rejected;
  };

  for (const Expected& expected : {Expected{0.5, 0, 1, false}, Expected{1e-12, 1, 1, true},
                                   Expected{1e-4, 0.5, 2, false}, Expected{1e-4, 1e-8, 2, true}}) {
    int runs = 0;
    const std::vector<LadderStep> steps = {scripted(expected.first, expected.second, runs)};
    const auto result = escalate(steps, "test", 1, 1e-9);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(runs, expected.runs);
    EXPECT_EQ(result->rejected.has_value(), expected.rejected);
    EXPECT_GT(result->statistics[0].detectable, 0);
  }
}

TEST(Escalation, NamesTheSmallestStep) {
  const Decide wrong = dividing_by([](auto t, auto) { return t - 1; });
  const std::vector<LadderStep> steps = {step_of({5, 4}, algorithm_r(), 500),
                                         step_of({8, 4}, wrong, 8000),
                                         step_of({16, 4}, wrong, 8000)};
  const auto result = escalate(steps, "test", 1, 1e-9);
  ASSERT_TRUE(result.has_value());
  ASSERT_NE(result->smallest, nullptr);
  EXPECT_EQ(result->smallest->where, "n=8 k=4");
  EXPECT_EQ(result->largest->where, "n=16 k=4");
}

TEST(Escalation, ErrorsEndIt) {
  const std::vector<LadderStep> steps = {
      {.where = "x", .streams = 1, .run = [](std::uint64_t, std::uint64_t) {
         return Result<std::vector<ChanceTest>>(io_error("gone"));
       }}};
  EXPECT_FALSE(escalate(steps, "test", 1, 1e-9).has_value());
}

// A false alarm of a family at a level where it can be counted: at most the level, far above zero.
TEST(Escalation, KeepsItsFamilyError) {
  int alarms = 0;
  constexpr int families = 1500;
  for (int i = 0; i < families; ++i) {
    const std::vector<LadderStep> steps = {step_of({8, 4}, algorithm_r(), 60),
                                           step_of({12, 4}, algorithm_r(), 60)};
    const auto result = escalate(steps, "family " + std::to_string(i), 1, 0.04);
    alarms += result->rejected.has_value() ? 1 : 0;
  }
  // At so large an error nothing is left in doubt: only the first half of it is spent.
  EXPECT_LE(alarms, 0.04 * families + 5 * std::sqrt(0.04 * families));
  EXPECT_GE(alarms, 5);
}

double evidence(const Shape& shape,
                ChanceLaw law,
                const Decide& decide,
                std::uint64_t root,
                std::uint64_t streams) {
  EProcess process(shape, law);
  DecidingSampler sampler(shape, decide);
  Replicate replicate;
  for (std::uint64_t r = 0; r < streams; ++r) {
    EXPECT_TRUE(sampler.sample(stream_seed(root, r), replicate).has_value());
    process.add(replicate);
  }
  return process.log_evidence();
}

TEST(EProcess, RarelyAccusesTheTruth) {
  int alarms = 0;
  for (std::uint64_t root = 0; root < 500; ++root) {
    alarms += evidence({16, 4}, ChanceLaw::uniform, algorithm_r(), root, 60) > std::log(20) ? 1 : 0;
  }
  EXPECT_LE(alarms, 25 + 25);
}

TEST(EProcess, FindsWhatIsWrong) {
  const Shape shape{16, 4};
  const double certain = std::log(1e6);
  EXPECT_GT(
      evidence(shape, ChanceLaw::uniform, dividing_by([](auto t, auto) { return t - 1; }), 1, 800),
      certain);
  EXPECT_GT(evidence(shape, ChanceLaw::uniform, any_of_all(), 1, 40), certain);
  EXPECT_GT(evidence(shape, ChanceLaw::geometric, algorithm_r(), 1, 40), certain);
  EXPECT_EQ(evidence(shape, ChanceLaw::admitting, algorithm_r(), 1, 40),
            std::numeric_limits<double>::infinity());
}

TEST(EProcess, IsAMartingaleInExpectation) {
  // Over all outcomes of one decision E has mean 1 exactly: k = 1, n = 2.
  double mean = 0;
  for (const std::uint32_t gone : {0U, 1U}) {
    EProcess process({2, 1}, ChanceLaw::uniform);
    process.add({.kept = {gone == 0 ? 1U : 0U}, .gone = {gone}});
    mean += 0.5 * std::exp(process.log_evidence());
  }
  EXPECT_NEAR(mean, 1, 1e-12);
}

TEST(Diagnosis, NamesTheLawThatIsFollowed) {
  const Shape shape{16, 4};
  EXPECT_EQ(follows(counted(shape, any_of_all(), 1, 3000), ChanceLaw::uniform),
            "inclusion falls geometrically with age: (4/5)^age");
  EXPECT_EQ(follows(counted(shape, any_elder(), 1, 3000), ChanceLaw::uniform),
            "inclusion falls geometrically with age: (3/4)^age");
  EXPECT_EQ(follows(counted(shape, algorithm_r(), 1, 3000), ChanceLaw::uniform), "");
  const Decide newest = [](Draws&, std::uint32_t, std::uint32_t) { return 0U; };
  EXPECT_EQ(follows(counted(shape, newest, 1, 100), ChanceLaw::uniform),
            "nothing is drawn: the newest 4 tokens stay, in every stream");
  const Counts few = counted(shape, dividing_by([](auto t, auto) { return t - 1; }), 1, 20000);
  EXPECT_NE(accepts_like(few, ChanceLaw::uniform).find("k/(t-1)"), std::string::npos);
  EXPECT_EQ(accepts_like(counted(shape, algorithm_r(), 1, 3000), ChanceLaw::uniform), "");
  EXPECT_EQ(evicts_like(counted(shape, newest, 1, 100)), "the oldest is always evicted");
}

}  // namespace
}  // namespace kv::properties
