// Samplers: the fast one, the generic one, and that both see the same streams.
#include <gtest/gtest.h>

#include "kvcheck/properties/sampling/family_sampler.h"
#include "kvcheck/properties/sampling/spec_sampler.h"
#include "kvcheck/properties/sampling/uniformity.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

TEST(StreamSeeds, ShareNothing) {
  EXPECT_NE(stream_seed(1, 0), stream_seed(1, 1));
  EXPECT_NE(stream_seed(1, 0), stream_seed(2, 0));
  EXPECT_NE(test_root(1, "a", 1), test_root(1, "a", 2));
  EXPECT_NE(test_root(1, "a", 1), test_root(1, "b", 1));
}

TEST(SpecSampler, TellsDecisionsThatLeadToWhatIsKept) {
  for (const char* text :
       {"reservoir:sinks=1,recent=2,budget=7", "random:sinks=1,recent=2,budget=7",
        "reservoir:sinks=1,recent=2,budget=7,algorithm=l;chunk=5",
        "reservoir:sinks=0,recent=3,budget=7;timing=lazy:4"}) {
    const Spec spec = *parse_spec(text);
    const std::uint32_t tokens = *tokens_for(spec, 20);
    SpecSampler sampler(spec, tokens);
    const Shape shape = sampler.shape();
    EXPECT_GE(shape.n, 20U);
    Replicate replicate;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      ASSERT_TRUE(sampler.sample(seed, replicate).has_value());
      ASSERT_EQ(replicate.gone.size(), shape.n - shape.k) << text;
      std::vector<std::uint32_t> kept;
      for (std::uint32_t i = 0; i < shape.n; ++i) {
        kept.push_back(i);
        if (i >= shape.k) kept.erase(kept.begin() + replicate.gone[i - shape.k]);
      }
      EXPECT_EQ(kept, replicate.kept) << text;
    }
  }
}

TEST(SpecSampler, WhatIsDecidedInBulkIsNotReported) {
  SpecSampler sampler(*parse_spec("reservoir-as-printed:sinks=1,recent=2,budget=7;chunk=4"), 31);
  Replicate replicate;
  ASSERT_TRUE(sampler.sample(1, replicate).has_value());
  EXPECT_TRUE(replicate.gone.empty());
  EXPECT_EQ(replicate.kept.size(), 4U);
}

TEST(SpecSampler, SaysWhyThereIsNothingToSample) {
  const auto why = [](const char* text, std::uint32_t tokens) {
    const auto shape = shape_of(*parse_spec(text), tokens);
    return shape ? std::string() : shape.error().message;
  };
  EXPECT_NE(why("streaming:budget=16", 100).find("no middle"), std::string::npos);
  EXPECT_NE(why("dense", 100).find("no middle"), std::string::npos);
  EXPECT_NE(why("reservoir:budget=64", 64).find("more tokens"), std::string::npos);
  EXPECT_NE(why("keyformer:budget=64;budgets=adaptive:0.2", 200).find("budgets=equal"),
            std::string::npos);
}

TEST(FamilySampler, SeesTheStreamsOfTheFastOne) {
  for (const char* text :
       {"reservoir:sinks=1,recent=2,budget=7", "random:sinks=1,recent=2,budget=7",
        "reservoir:sinks=1,recent=2,budget=7;timing=lazy:3"}) {
    const Spec spec = *parse_spec(text);
    const auto family = make_spec_family(spec);
    const auto sampler =
        FamilySampler::make(*family, {.setup = family->requested(), .entering = 16});
    ASSERT_TRUE(sampler.has_value()) << sampler.error().message;
    const Shape shape = (*sampler)->shape();
    SpecSampler fast(spec, spec.sinks + spec.recent + shape.n);
    ASSERT_EQ(fast.shape(), shape);
    Replicate one;
    Replicate other;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      ASSERT_TRUE((*sampler)->sample(seed, one).has_value());
      ASSERT_TRUE(fast.sample(seed, other).has_value());
      EXPECT_EQ(one.kept, other.kept);
      if (spec.timing == Timing::lazy) continue;  // reported by the fast one alone
      EXPECT_EQ(one.gone, other.gone);
    }
  }
}

TEST(FamilySampler, SaysWhyItCannotCount) {
  const auto family = make_spec_family(*parse_spec("streaming:sinks=1,recent=2"));
  const auto sampler = FamilySampler::make(*family, {.setup = family->requested(), .entering = 16});
  ASSERT_FALSE(sampler.has_value());
  EXPECT_NE(sampler.error().message.find("no middle"), std::string::npos);
}

TEST(Uniformity, DoesNotDependOnThreads) {
  const Spec spec = *parse_spec("reservoir:sinks=1,recent=2,budget=7");
  const auto one = measure_uniformity(spec, {.tokens = 19, .trials = 3000, .threads = 1});
  const auto three = measure_uniformity(spec, {.tokens = 19, .trials = 3000, .threads = 3});
  ASSERT_TRUE(one && three);
  EXPECT_TRUE(one->uniform);
  EXPECT_EQ(one->sentence, three->sentence);
  EXPECT_TRUE(std::ranges::equal(one->counts.kept(), three->counts.kept()));
}

TEST(Uniformity, NamesLawSmallestCellAndWitness) {
  const auto report =
      measure_uniformity(*parse_spec("reservoir-as-printed:sinks=1,recent=2,budget=7"),
                         {.tokens = 35, .trials = 3000});
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->uniform);
  EXPECT_NE(report->sentence.find("geometrically with age: (4/5)^age; test T1: p "),
            std::string::npos)
      << report->sentence;
  EXPECT_NE(report->smallest.find("n=8 k=4"), std::string::npos);
  EXPECT_NE(report->witness.find("instead of"), std::string::npos);
}

TEST(Uniformity, StopsWhenAsked) {
  const auto report = measure_uniformity(
      *parse_spec("reservoir:sinks=1,recent=2,budget=7"),
      {.tokens = 100, .trials = 100000000, .more = [](double) { return false; }});
  EXPECT_FALSE(report.has_value());
}

}  // namespace
}  // namespace kv::properties
