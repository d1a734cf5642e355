// Nothing beats the oracle: the law, over all policies of the registry, and what breaks it.
#include <algorithm>
#include <array>
#include <cmath>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/sim/memory_trace.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv {
namespace {

// Retained masses are sums of floats, bounds of doubles.
constexpr double rounding = 3e-6;

constexpr std::array<const char*, 7> settings = {"",
                                                 ";chunk=7",
                                                 ";timing=lazy:9",
                                                 ";timing=lazy:9;chunk=4",
                                                 ";timing=trim-then-attend",
                                                 ";timing=trim-then-attend;chunk=19",
                                                 ";visibility=window;chunk=5"};

Trace synthetic(const std::string& text) {
  const auto spec = parse_synthetic(text);
  EXPECT_TRUE(spec) << text << ": " << spec.error().message;
  return make_synthetic(*spec);
}

ReplayOptions with_oracle() {
  ReplayOptions options;
  options.oracle = true;
  return options;
}

// What the heads of each unit retained, in the order of the bounds.
std::vector<double> retained_by_unit(const CellResult& cell) {
  std::vector<double> means;
  std::size_t at = 0;
  for (const UnitBounds& unit : cell.bounds) {
    double sum = 0;
    for (std::size_t i = 0; i < unit.heads; ++i) sum += cell.heads[at++].metrics.retained_mass;
    means.push_back(sum / static_cast<double>(unit.heads));
  }
  EXPECT_EQ(at, cell.heads.size());
  return means;
}

// The law, for one cell: how many of its units retained more than the oracle allows.
std::size_t units_above(const std::vector<double>& retained,
                        const std::vector<UnitBounds>& bounds) {
  std::size_t above = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    above += retained[i] > bounds[i].optimum + rounding ? 1U : 0U;
  }
  return above;
}

std::uint64_t evictions_of(const CellResult& cell) {
  std::uint64_t evictions = 0;
  for (const UnitResult& unit : cell.units) evictions += unit.evictions;
  return evictions;
}

TEST(OracleLaw, NothingBeatsTheOracle) {
  std::size_t judged = 0;
  double closest = 1;
  for (const std::string kind :
       {"sink-recency:", "zipf:hitters=16,within=30,",
        "needle:position=10,spread=4,attended=6,ask_at=40,ask_every=9,", "topics:block=12,",
        "uniform:", "one-hot:budget=20,recent=8,", "ties:", "drift:period=24,"}) {
    const Trace trace =
        synthetic(kind + "tokens=96,kind=qkv,layers=1,heads=2,kv_heads=1,seed=5,head_dim=64");
    for (const PolicyEntry& entry : policy_registry()) {
      for (const std::string setting : settings) {
        const Result<Spec> spec = parse_spec(std::string(entry.name) + setting, {.budget = 20});
        if (!spec) continue;
        const std::vector<Cell> cells = {{*spec, 1}};
        const Result<ReplayResult> result = replay(trace, cells, with_oracle());
        if (!result) continue;  // wants what the trace does not hold
        const CellResult& cell = result->cells[0];
        const std::vector<double> retained = retained_by_unit(cell);
        ASSERT_EQ(units_above(retained, cell.bounds), 0U) << kind << " " << spec->canonical();
        for (std::size_t i = 0; i < retained.size(); ++i) {
          const UnitBounds& unit = cell.bounds[i];
          ASSERT_LE(unit.greedy, unit.optimum + 1e-9) << kind << " " << spec->canonical();
          ASSERT_LE(unit.optimum, unit.per_step + 1e-9) << kind << " " << spec->canonical();
          ASSERT_LE(unit.per_step, 1.0);
          closest = std::min(closest, 1 - retained[i] / unit.optimum);
        }
        if (!spec->bounded()) continue;
        ASSERT_GT(evictions_of(cell), 0U) << kind << " " << spec->canonical();
        ++judged;
      }
    }
  }
  EXPECT_GE(judged, 8U * 7U * 6U);
  EXPECT_LT(closest, 0.01);
}

// The same for every way to share residents, where a unit's mass is the mean over its heads.
TEST(OracleLaw, HoldsForUnitsOfAnySize) {
  const Trace trace = random_qkv_trace({.tokens = 60});
  for (const std::string unit : {"head", "kv-head", "layer", "model"}) {
    for (const std::string policy : {"h2o", "tova", "streaming", "reservoir"}) {
      const Result<Spec> spec = parse_spec(policy + ":budget=16;unit=" + unit);
      ASSERT_TRUE(spec) << spec.error().message;
      const std::vector<Cell> cells = {{*spec, 1}};
      const Result<ReplayResult> result = replay(trace, cells, with_oracle());
      ASSERT_TRUE(result) << result.error().message;
      const CellResult& cell = result->cells[0];
      ASSERT_EQ(cell.bounds.size(), cell.units.size());
      for (std::size_t i = 0; i < cell.units.size(); ++i) {
        EXPECT_EQ(cell.bounds[i].layer, cell.units[i].layer);
        EXPECT_EQ(cell.bounds[i].head, cell.units[i].head);
      }
      EXPECT_EQ(units_above(retained_by_unit(cell), cell.bounds), 0U) << spec->canonical();
    }
  }
}

// Mutants. A cache with a few rows more than it says, one that trims too late, and one that sees
// what it had evicted: each breaks the law.
TEST(OracleLaw, IsBrokenByCachesThatCheat) {
  const Trace trace =
      synthetic("zipf:hitters=16,within=30,tokens=96,kind=attention,layers=2,heads=2,seed=5");
  const auto run = [&](const std::string& text) {
    const std::vector<Cell> cells = {{*parse_spec(text), 1}};
    Result<ReplayResult> result = replay(trace, cells, with_oracle());
    EXPECT_TRUE(result) << result.error().message;
    return std::move(result->cells[0]);
  };
  const CellResult honest = run("h2o:budget=12");
  EXPECT_EQ(units_above(retained_by_unit(honest), honest.bounds), 0U);
  EXPECT_GT(units_above(retained_by_unit(run("h2o:budget=40")), honest.bounds), 0U);
  EXPECT_GT(units_above(retained_by_unit(run("h2o:budget=12;timing=lazy:40")), honest.bounds), 0U);
  std::vector<double> readmitting;
  for (const UnitBounds& unit : honest.bounds) readmitting.push_back(unit.per_step);
  EXPECT_EQ(units_above(readmitting, honest.bounds), honest.bounds.size());
}

// A mutant of the oracle: limits that forget the query's own key are too low for a policy that does
// as well as can be. Even attention with a full window leaves nothing to choose.
TEST(OracleLaw, IsBrokenByAnOracleThatForgetsTheOwnKey) {
  const Trace trace = synthetic("ties:tokens=96,kind=attention,layers=1,heads=1,levels=1");
  const std::vector<Cell> cells = {{*parse_spec("window:recent=12"), 1},
                                   {*parse_spec("window:recent=11"), 1}};
  const Result<ReplayResult> result = replay(trace, cells, with_oracle());
  ASSERT_TRUE(result) << result.error().message;
  const std::vector<double> retained = retained_by_unit(result->cells[0]);
  EXPECT_EQ(units_above(retained, result->cells[0].bounds), 0U);
  EXPECT_NEAR(retained[0], result->cells[0].bounds[0].optimum, rounding);
  EXPECT_EQ(units_above(retained, result->cells[1].bounds), 1U);
}

TEST(OracleLaw, BoundsAreTheSameForAnyNumberOfThreadsAndForAllPoliciesOfOneSize) {
  const Trace trace = random_qkv_trace({.tokens = 60, .layers = 3});
  std::vector<Cell> cells;
  for (const std::string policy : {"h2o", "tova", "random", "h2o:budget=24", "h2o:sinks=3"}) {
    cells.push_back({*parse_spec(policy, {.budget = policy.ends_with("24") ? 24U : 16U}), 1});
  }
  ReplayOptions options = with_oracle();
  std::vector<std::vector<UnitBounds>> first;
  for (const unsigned threads : {1U, 2U, 7U}) {
    options.threads = threads;
    const Result<ReplayResult> result = replay(trace, cells, options);
    ASSERT_TRUE(result) << result.error().message;
    if (first.empty()) {
      for (const CellResult& cell : result->cells) first.push_back(cell.bounds);
    }
    for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(result->cells[i].bounds, first[i]);
  }
  ASSERT_EQ(first[0].size(), 6U);
  EXPECT_EQ(first[0], first[1]);
  EXPECT_EQ(first[0], first[2]);
  EXPECT_EQ(first[0], first[4]);
  EXPECT_LT(first[0][0].optimum, first[3][0].optimum);
}

TEST(OracleLaw, StopsWhereItIsAskedTo) {
  const Trace trace = random_qkv_trace({.tokens = 80, .layers = 2});
  const std::vector<Cell> cells = {{*parse_spec("h2o:budget=16"), 1}};
  ReplayOptions options = with_oracle();
  options.threads = 1;
  for (const double at : {0.05, 0.5, 0.9}) {
    options.progress = [&](double done) { return done < at; };
    const Result<ReplayResult> result = replay(trace, cells, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, Error::Kind::busy);
  }
  std::vector<double> seen;
  options.progress = [&](double done) {
    seen.push_back(done);
    return true;
  };
  ASSERT_TRUE(replay(trace, cells, options));
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_GT(seen.back(), 0.9);
  EXPECT_LE(seen.back(), 1.0);
}

TEST(OracleLaw, StreamsThatAreTooLongHaveTheOtherTwo) {
  const Trace trace = random_qkv_trace({.tokens = 60, .layers = 1});
  const std::vector<Cell> cells = {{*parse_spec("h2o:budget=16"), 1}};
  ReplayOptions options = with_oracle();
  const Result<ReplayResult> exact = replay(trace, cells, options);
  options.oracle_tokens = 59;
  const Result<ReplayResult> longer = replay(trace, cells, options);
  options.oracle = false;
  const Result<ReplayResult> without = replay(trace, cells, options);
  ASSERT_TRUE(exact && longer && without);
  EXPECT_TRUE(without->cells[0].bounds.empty());
  for (std::size_t i = 0; i < 2; ++i) {
    const UnitBounds& whole = exact->cells[0].bounds[i];
    const UnitBounds& part = longer->cells[0].bounds[i];
    EXPECT_TRUE(std::isnan(part.optimum));
    EXPECT_EQ(part.greedy, whole.greedy);
    EXPECT_EQ(part.per_step, whole.per_step);
    EXPECT_LT(whole.greedy, whole.optimum);
    EXPECT_LT(whole.optimum, whole.per_step);
  }
}

}  // namespace
}  // namespace kv
