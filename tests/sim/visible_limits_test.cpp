#include "kvcheck/sim/cache/visible_limits.h"

#include <algorithm>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv {
namespace {

using Limits = std::vector<std::uint32_t>;

Limits limits_of(const std::string& text, std::size_t tokens) {
  const Result<Spec> spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return visible_limits(*spec, tokens);
}

TEST(VisibleLimits, AreThoseOfEachTiming) {
  const std::string h2o = "h2o:sinks=0,recent=2,budget=4";
  // The budget and the query's own key.
  EXPECT_EQ(limits_of(h2o, 8), (Limits{1, 2, 3, 4, 5, 5, 5, 5}));
  // Room is made first.
  EXPECT_EQ(limits_of(h2o + ";timing=trim-then-attend", 8), (Limits{1, 2, 3, 4, 4, 4, 4, 4}));
  // ... but not beyond the recent window: for one token of a chunk of three there is no room.
  EXPECT_EQ(limits_of(h2o + ";timing=trim-then-attend;chunk=3", 9),
            (Limits{1, 2, 3, 3, 4, 5, 3, 4, 5}));
  // A chunk on top of the budget.
  EXPECT_EQ(limits_of(h2o + ";chunk=3", 9), (Limits{1, 2, 3, 4, 5, 6, 5, 6, 7}));
  // A saw-tooth: trimmed to 4 once more than 6 are stored.
  EXPECT_EQ(limits_of(h2o + ";timing=lazy:2", 11), (Limits{1, 2, 3, 4, 5, 6, 7, 5, 6, 7, 5}));
  // Never more than the budget, own key included, whatever the timing and chunk.
  for (const std::string rest : {"", ";chunk=3", ";timing=lazy:2", ";timing=trim-then-attend"}) {
    EXPECT_EQ(limits_of(h2o + ";visibility=window" + rest, 7), (Limits{1, 2, 3, 4, 4, 4, 4}));
  }
  EXPECT_EQ(limits_of("dense", 4), (Limits{1, 2, 3, 4}));
  EXPECT_EQ(limits_of("window:recent=2", 5), (Limits{1, 2, 3, 3, 3}));
}

TEST(VisibleLimits, OfALazyCacheWithoutAConstantSizeAreTheUpperEnd) {
  Result<Spec> spec = parse_spec("h2o:sinks=0,recent=2,budget=4;timing=lazy:2;chunk=2");
  PolicyEntry varying = *spec->policy;
  varying.claims = {};
  spec->policy = &varying;
  EXPECT_EQ(visible_limits(*spec, 10), (Limits{1, 2, 3, 4, 5, 6, 7, 8, 7, 8}));
}

// Every policy of the registry sees at most so many, and one of constant size exactly so many.
TEST(VisibleLimits, HoldForEveryPolicyAtEveryQuery) {
  constexpr std::size_t tokens = 70;
  const auto synthetic =
      parse_synthetic("zipf:hitters=16,within=30,tokens=70,kind=qkv,layers=1,heads=2,kv_heads=1");
  ASSERT_TRUE(synthetic) << synthetic.error().message;
  const Trace trace = make_synthetic(*synthetic);
  ReplayOptions options;
  options.threads = 1;
  std::size_t judged = 0;
  for (const PolicyEntry& entry : policy_registry()) {
    for (const std::string rest :
         {"", ";chunk=5", ";timing=lazy:7", ";timing=lazy:7;chunk=3", ";timing=trim-then-attend",
          ";timing=trim-then-attend;chunk=11", ";visibility=window;chunk=4"}) {
      const Result<Spec> spec = parse_spec(std::string(entry.name) + rest, {.budget = 16});
      if (!spec) continue;
      const std::vector<Cell> cells = {{*spec, 3}};
      const Result<ReplayResult> result = replay(trace, cells, options);
      if (!result) continue;  // wants what the trace does not hold
      const Limits limits = visible_limits(*spec, tokens);
      const std::vector<SeriesPoint>& series = result->cells[0].series;
      ASSERT_EQ(series.size(), tokens);
      const bool constant = std::ranges::find(entry.claims, "constant-size") != entry.claims.end();
      for (std::size_t query = 0; query < tokens; ++query) {
        ASSERT_LE(series[query].visible, limits[query]) << spec->canonical() << " " << query;
        if (constant) {
          ASSERT_EQ(series[query].visible, limits[query]) << spec->canonical() << " " << query;
        }
      }
      ++judged;
    }
  }
  EXPECT_GE(judged, 48U);
}

}  // namespace
}  // namespace kv
