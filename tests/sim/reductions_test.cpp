// The laws between policies: specs that are different words for one cache, over every stream, chunk
// and timing; and as a control, pairs that such a comparison tells apart.
#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/sim/reductions.h"

namespace kv {
namespace {

void expect_alike(const SpecPair& pair) {
  std::uint64_t evicted = 0;
  EXPECT_EQ(first_difference(pair, evicted), "");
  EXPECT_GT(evicted, 1000U) << pair.one;
}

const std::string nine = ":sinks=1,recent=3,budget=9";

const std::vector<SpecPair>& laws() {
  static const std::vector<SpecPair> table = {
      // Queues.
      {"streaming:sinks=0,budget=9", "window:budget=9"},
      {"fifo:sinks=2,recent=3,budget=9", "streaming:sinks=2,budget=9", SameWhen::chunks_fit_recent},
      {"fifo:sinks=0,recent=1,budget=9", "window:budget=9", SameWhen::chunks_fit_recent},
      {"pages:sinks=2,recent=3,budget=9,page=1,first-page=freed", "fifo:sinks=2,recent=3,budget=9"},
      {"pages:sinks=2,recent=3,budget=9,page=1", "fifo:sinks=2,recent=3,budget=9"},
      {"token-classes" + nine, "fifo" + nine, SameWhen::all_content},
      {"separators" + nine, "fifo" + nine, SameWhen::all_content},
      // Scores of attention.
      {"snapkv" + nine + ",window=1,kernel=1", "tova" + nine},
      {"snapkv" + nine + ",window=4096,kernel=1", "h2o" + nine},
      {"snapkv" + nine + ",window=4,kernel=1,pooling=mean", "snapkv" + nine + ",window=4,kernel=1"},
      {"keyformer" + nine + ",noise=none,step=0", "h2o" + nine},
      {"a2sf" + nine + ",factor=1", "h2o" + nine},
      {"a2sf" + nine + ",factor=0", "tova" + nine},
      {"criticalkv" + nine + ",window=4,kernel=3,first=1", "snapkv" + nine + ",window=4,kernel=3"},
      {"chunkkv" + nine + ",length=1,window=4", "snapkv" + nine + ",window=4,kernel=1"},
      {"chunkkv" + nine + ",length=1,window=1", "tova" + nine},
      {"chunkkv" + nine + ",length=64,window=4", "snapkv" + nine + ",window=4,kernel=1"},
      {"semantic-blocks" + nine + ",block=64", "fifo" + nine},
      {"rkv" + nine + ",lambda=1,window=4,kernel=3", "snapkv" + nine + ",window=4,kernel=3"},
      {"rkv" + nine + ",lambda=1,window=1,kernel=1", "tova" + nine},
  };
  return table;
}

TEST(Reductions, PairsAreOneCache) {
  for (const SpecPair& pair : laws()) expect_alike(pair);
}

// Those that choose among a middle, with its size beside `common`, the policy's own fields.
std::vector<std::string> selecting(const std::string& common) {
  std::vector<std::string> specs;
  for (const PolicyEntry& entry : policy_registry()) {
    if (entry.protection.middle != Protection::Middle::some) continue;
    specs.push_back(std::string(entry.name) + ":" + common);
  }
  return specs;
}

// H2O without heavy hitters, a reservoir of none, and so on.
TEST(Reductions, WithoutAMiddleEveryPolicyIsStreaming) {
  for (const std::string& spec : selecting("sinks=2,recent=7,budget=9")) {
    expect_alike({spec, "streaming:sinks=2,recent=7"});
  }
}

TEST(Reductions, WithoutMiddleAndSinksEveryPolicyIsAWindow) {
  for (const std::string& spec : selecting("sinks=0,recent=9,budget=9")) {
    expect_alike({spec, "window:recent=9"});
  }
}

TEST(Reductions, ABudgetThatCoversTheTextIsDense) {
  std::vector<std::string> specs = selecting("sinks=2,recent=5,budget=80");
  specs.insert(specs.end(), {"window:budget=80", "streaming:budget=80"});
  for (const std::string& spec : specs) {
    std::uint64_t evicted = 0;
    EXPECT_EQ(first_difference({spec, "dense"}, evicted), "");
    EXPECT_EQ(evicted, 0U);
  }
}

TEST(Reductions, LazyWithoutSlackIsAttendThenTrim) {
  for (const std::string& spec : selecting("sinks=1,recent=3,budget=9")) {
    for (const std::string visibility : {"", ";visibility=window"}) {
      for (const ReducedKind kind : all_kinds) {
        for (int way = 0; way < 3; ++way) {
          EXPECT_EQ(
              compare(spec + ";timing=lazy:0" + visibility,
                      spec + ";timing=attend-then-trim" + visibility, {kind}, way, stream_tokens)
                  .difference,
              "");
        }
      }
    }
  }
}

// How often of `runs` seeds each of the 24 tokens that left the recent window is kept, in standard
// deviations from 4/24, at most.
double farthest_from_uniform(const std::string& policy, std::uint64_t runs) {
  constexpr std::size_t entered = 24;
  std::array<std::uint64_t, entered> kept{};
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    UnitCache cache = cache_of(policy + ",sinks=1,recent=2,budget=7", seed);
    for (std::size_t i = 0; i < entered + 3; ++i) feed(cache, 1, {});
    for (const Position p : cache.all().middle) ++kept[p - 1];
  }
  const double chance = 4.0 / entered;
  const double expected = chance * static_cast<double>(runs);
  double farthest = 0;
  for (const std::uint64_t count : kept) {
    farthest = std::max(farthest, std::abs(static_cast<double>(count) - expected) /
                                      std::sqrt(expected * (1 - chance)));
  }
  return farthest;
}

// One law, other draws. 5.5 deviations: by chance one of the 5 x 24 is beyond in 1 of 200,000 runs.
TEST(Reductions, WeightedReservoirsOfEqualWeightsAreReservoirs) {
  for (const std::string policy :
       {"reservoir-es:weight=equal", "reservoir-chao:weight=equal", "reservoir:algorithm=r",
        "reservoir:algorithm=l", "reservoir:algorithm=bottom-k"}) {
    EXPECT_LT(farthest_from_uniform(policy, 3000), 5.5) << policy;
  }
  EXPECT_GT(farthest_from_uniform("reservoir-es:weight=value-norm", 3000), 8);
}

// What the comparison must not take for one cache.
TEST(ReductionsControl, NeighboursOfTheLawsAreDistinguished) {
  const std::vector<SpecPair> neighbours = {
      {"streaming:sinks=1,budget=9", "window:budget=9"},
      {"fifo:sinks=2,recent=3,budget=9", "streaming:sinks=2,budget=9"},
      {"fifo:sinks=2,recent=3,budget=9", "streaming:sinks=2,budget=10",
       SameWhen::chunks_fit_recent},
      {"pages:sinks=2,recent=3,budget=9,page=2,first-page=freed", "fifo:sinks=2,recent=3,budget=9"},
      {"pages:sinks=0,recent=3,budget=9,page=1", "fifo:sinks=0,recent=3,budget=9"},
      {"token-classes" + nine, "fifo" + nine},
      {"separators" + nine, "fifo" + nine},
      {"snapkv" + nine + ",window=2,kernel=1", "tova" + nine},
      {"snapkv" + nine + ",window=1,kernel=3", "tova" + nine},
      {"snapkv" + nine + ",window=8,kernel=1", "h2o" + nine},
      {"snapkv" + nine + ",window=4,kernel=3,pooling=mean", "snapkv" + nine + ",window=4,kernel=3"},
      {"keyformer" + nine + ",noise=gumbel,step=0", "h2o" + nine},
      {"a2sf" + nine + ",factor=0.75", "h2o" + nine},
      {"a2sf" + nine + ",factor=0.75", "tova" + nine},
      {"criticalkv" + nine + ",window=4,kernel=3", "snapkv" + nine + ",window=4,kernel=3"},
      {"keyformer" + nine + ",noise=none,step=1", "h2o" + nine},
      {"chunkkv" + nine + ",length=2,window=4", "snapkv" + nine + ",window=4,kernel=1"},
      {"chunkkv" + nine + ",length=5,window=4", "snapkv" + nine + ",window=4,kernel=1"},
      {"semantic-blocks" + nine + ",block=2", "fifo" + nine},
      {"rkv" + nine + ",lambda=0.9,window=4,kernel=3", "snapkv" + nine + ",window=4,kernel=3"},
      {"h2o:sinks=2,recent=6,budget=9", "streaming:sinks=2,budget=9"},
      {"reservoir" + nine, "reservoir-as-printed" + nine},
      {"reservoir" + nine + ",algorithm=l", "reservoir" + nine + ",algorithm=r"},
      {"semantic-blocks:sinks=2,recent=5,budget=60,block=4", "dense"},
  };
  for (const SpecPair& pair : neighbours) {
    std::uint64_t evicted = 0;
    EXPECT_NE(first_difference(pair, evicted), "") << pair.one << " and " << pair.other;
  }
}

TEST(ReductionsControl, SlackIsDistinguished) {
  const std::string spec = "h2o" + nine + ";timing=";
  EXPECT_NE(compare(spec + "lazy:1", spec + "attend-then-trim", {}, 0, 1).difference, "");
}

}  // namespace
}  // namespace kv
