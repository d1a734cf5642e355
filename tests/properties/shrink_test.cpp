#include "kvcheck/properties/cases/shrink.h"

#include <algorithm>

namespace kv::properties {
namespace {

Case parsed(const char* text) {
  const auto what = parse_case(text);
  EXPECT_TRUE(what) << (what ? "" : what.error().message);
  return what ? *what : Case{};
}

const char* const big =
    "sinks=3,recent=4,budget=11,layers=3,kv-heads=2,group=2,sequences=2,seed=9;"
    "stream=hitter,seed=77,planted=13;calls=f7,k,f1,f1,b1:f5v1,r,f12,t-5,b1:f3v1,s,f9,o1.0,f4";

// The smallest case that still has the property.
std::string smallest(const std::function<bool(const Case&)>& fails) {
  return shrink(CaseTree(parsed(big), true), fails, {}).smallest.text();
}

TEST(Shrink, TakesEverythingAwayFromACaseThatAlwaysFails) {
  EXPECT_EQ(smallest([](const Case&) { return true; }),
            "sinks=0,recent=0,budget=1;stream=ties;calls=");
}

TEST(Shrink, TriesThePlainContentToo) {
  const auto re_feeds = [](const Case& what) {
    return std::ranges::any_of(
               what.calls, [](const Call& call) { return call.kind == Call::Kind::truncate; }) &&
           what.calls.size() >= 2 && what.tokens() >= 2;
  };
  const auto two = parsed("sinks=0,recent=0,budget=1;stream=ties;calls=f1,t0,f1v1");
  EXPECT_EQ(shrink(CaseTree(two, true), re_feeds, {}).smallest.text().find('v'), std::string::npos);
  const auto other = [](const Case& what) {
    return std::ranges::any_of(what.calls, [](const Call& call) { return call.variant > 0; });
  };
  EXPECT_EQ(shrink(CaseTree(two, true), other, {}).smallest.text(),
            "sinks=0,recent=0,budget=1;stream=ties;calls=f1v1");
}

TEST(Shrink, KeepsWhatTheFailureNeeds) {
  EXPECT_EQ(smallest([](const Case& what) { return what.tokens() > what.setup.budget + 2; }),
            "sinks=0,recent=0,budget=1;stream=ties;calls=f4");
  EXPECT_EQ(smallest([](const Case& what) {
              return what.setup.sinks >= 1 && what.setup.recent >= 2 && what.setup.layers >= 2 &&
                     what.tokens() > std::uint64_t{2} * what.setup.budget;
            }),
            "sinks=1,recent=2,budget=3,layers=2;stream=ties;calls=f7");
  EXPECT_EQ(smallest([](const Case& what) {
              return what.stream.kind == StreamKind::hitter && what.stream.planted >= 3;
            }),
            "sinks=0,recent=0,budget=1;stream=hitter,planted=3;calls=");
}

// What happened on a copy alone needs no copy.
TEST(Shrink, LeavesNoForkWhereTheParentAloneFails) {
  const auto long_branch = [](const Case& what) {
    std::vector<std::int64_t> lengths = {0};
    for (const Call& call : what.calls) {
      if (call.kind == Call::Kind::fork) lengths.push_back(lengths[call.branch]);
      if (call.kind == Call::Kind::feed) lengths[call.branch] += call.amount;
    }
    return *std::ranges::max_element(lengths) >= 4 && what.calls.size() >= 2;
  };
  for (const char* text : {"sinks=0,recent=0,budget=1;stream=ties;calls=f2,k,b1:f2v1",
                           "sinks=0,recent=0,budget=1;stream=ties;calls=f1,k,f1,b1:k,b2:f3v2",
                           "sinks=0,recent=0,budget=1;stream=ties;calls=f1,k,k,b2:f1,b1:f3v1"}) {
    const std::string small = shrink(CaseTree(parsed(text), true), long_branch, {}).smallest.text();
    EXPECT_EQ(small.find(",k"), std::string::npos) << text << " became " << small;
  }
}

TEST(Shrink, ShrinksSizesAndChunksTogether) {
  const auto ratio = [](const Case& what) {
    return what.calls.size() == 2 && what.setup.budget > 0 &&
           what.calls[0].amount == 2 * std::int64_t{what.setup.budget} &&
           what.calls[1].amount == 2 * std::int64_t{what.setup.budget};
  };
  EXPECT_EQ(
      shrink(CaseTree(parsed("sinks=0,recent=0,budget=3;stream=ties;calls=f6,f6"), true), ratio, {})
          .smallest.text(),
      "sinks=0,recent=0,budget=1;stream=ties;calls=f2,f2");
}

TEST(Shrink, SaysWhetherItsBoundWasMet) {
  const auto always = [](const Case&) { return true; };
  EXPECT_FALSE(shrink(CaseTree(parsed(big), true), always, {}).cut);
  EXPECT_TRUE(shrink(CaseTree(parsed(big), true), always, {.candidates = 2, .clock = {}}).cut);
}

TEST(Shrink, FindsWhatFailsAtAnExactLengthOnly) {
  EXPECT_EQ(
      shrink(CaseTree(parsed("sinks=1,recent=2,budget=6;stream=ties;calls=f6,f6"), true),
             [](const Case& what) { return what.tokens() == std::uint64_t{2} * what.setup.budget; },
             {})
          .smallest.text(),
      "sinks=0,recent=0,budget=1;stream=ties;calls=f2");
}

TEST(Shrink, DropsABranchWithItsFork) {
  const auto feeds_branch = [](const Case& what) {
    return std::ranges::any_of(what.calls, [](const Call& call) { return call.branch > 0; });
  };
  EXPECT_EQ(smallest(feeds_branch), "sinks=0,recent=0,budget=1;stream=ties;calls=k,b1:f1");
  const auto two = parsed("sinks=0,recent=0,budget=1;stream=ties;calls=k,k,b1:f1v1,b2:f2v2");
  const auto feeds_two = [](const Case& what) {
    return std::ranges::any_of(what.calls, [](const Call& call) { return call.amount == 2; });
  };
  EXPECT_EQ(shrink(CaseTree(two, true), feeds_two, {}).smallest.text(),
            "sinks=0,recent=0,budget=1;stream=ties;calls=f2");
}

TEST(Shrink, LeavesTheSizesOfASubjectThatTakesNoOthers) {
  const auto shrunk = shrink(CaseTree(parsed(big), false), [](const Case&) { return true; }, {});
  EXPECT_EQ(shrunk.smallest.setup.budget, 11U);
  EXPECT_EQ(shrunk.smallest.setup.layers, 3U);
  EXPECT_TRUE(shrunk.smallest.calls.empty());
}

TEST(Shrink, StopsAtItsBounds) {
  std::uint64_t runs = 0;
  const auto slow = [&](const Case& what) {
    ++runs;
    return what.tokens() > 3;
  };
  const Shrunk few = shrink(CaseTree(parsed(big), true), slow, {.candidates = 10, .clock = {}});
  EXPECT_EQ(few.tried, 10U);
  EXPECT_EQ(runs, 10U);
  double time = 0;
  const auto tick = [&] { return time += 1; };
  const Shrunk timed =
      shrink(CaseTree(parsed(big), true), slow, {.candidates = 1000, .seconds = 5, .clock = tick});
  EXPECT_LE(timed.tried, 5U);
  EXPECT_GE(timed.tried, 3U);
}

TEST(Shrink, NeverOffersMoreCallsOrTokens) {
  const Case what = parsed(big);
  for (const Case& simpler : simpler_cases(what, true)) {
    EXPECT_LE(simpler.calls.size(), what.calls.size());
    EXPECT_LE(simpler.tokens(), what.tokens());
    EXPECT_NE(simpler, what);
  }
}

}  // namespace
}  // namespace kv::properties
