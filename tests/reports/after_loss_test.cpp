#include "kvcheck/reports/numbers/after_loss.h"

#include <cstdlib>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/traces/synthetic/synthetic.h"

namespace kv::reports {
namespace {

Trace synthetic_trace(const std::string& words) {
  const auto spec = parse_synthetic(words);
  EXPECT_TRUE(spec) << spec.error().message;
  return make_synthetic(*spec);
}

// The first query of a replay that sees fewer tokens than there are, in some unit.
Position first_seen_loss(const CellResult& cell, std::size_t tokens) {
  for (const SeriesPoint& point : cell.series) {
    if (point.visible < static_cast<double>(point.first_step) + 1) return point.first_step;
  }
  return static_cast<Position>(tokens);
}

ReplayResult replayed(const Trace& trace, const std::vector<std::string>& specs) {
  std::vector<Cell> cells;
  for (const std::string& words : specs) {
    const auto spec = parse_spec(words);
    EXPECT_TRUE(spec) << spec.error().message;
    cells.push_back({.spec = *spec, .seed = 7});
  }
  ReplayOptions options;
  options.threads = 1;
  return replay(trace, cells, options).value();
}

// A policy is called no sooner than a token must be evicted, so the first loss is a matter of sizes
// and timing.
TEST(AfterLoss, BeginsWhereEveryPolicyLosesItsFirstToken) {
  constexpr std::size_t tokens = 60;
  const Trace trace =
      synthetic_trace("zipf:hitters=8,within=30,tokens=60,kind=qkv,layers=3,heads=4,kv_heads=2");
  std::vector<std::string> specs;
  for (const PolicyEntry& entry : policy_registry()) {
    const std::string name(entry.name);
    if (entry.protection.middle == Protection::Middle::unbounded || name == "token-classes" ||
        name == "separators" || name == "kvzip") {
      continue;  // dense, those that need the text of a trace, and one that no trace serves
    }
    for (const std::string rest : {"", ";timing=trim-then-attend", ";timing=lazy:5;chunk=3",
                                   ";visibility=window", ";chunk=8"}) {
      const bool middle = entry.protection.middle == Protection::Middle::some;
      specs.push_back(name + ":budget=20" + (middle ? ",recent=6" : "") + rest);
    }
  }
  specs.insert(specs.end(),
               {"dense", "dense;visibility=top-pages:16/4/1", "h2o:budget=24;budgets=pyramid:4",
                "h2o:budget=20;budgets=adaptive:0.2", "h2o:budget=20;budgets=retrieval:0.0+1.1",
                "h2o:budget=60"});
  const ReplayResult result = replayed(trace, specs);
  std::size_t losing = 0;
  for (const CellResult& cell : result.cells) {
    const AfterLoss after(cell.cell.spec, result.trace);
    EXPECT_EQ(after.first(), first_seen_loss(cell, tokens)) << cell.cell.spec.canonical();
    losing += after.any() ? 1U : 0U;
  }
  EXPECT_EQ(losing, result.cells.size() - 2);
}

TEST(AfterLoss, HasNoMeanIfNothingIsEverLost) {
  const Trace trace = synthetic_trace("uniform:tokens=20");
  const AfterLoss after(parse_spec("dense").value(), trace.info());
  EXPECT_FALSE(after.any());
  EXPECT_EQ(after.first(), 20U);
  EXPECT_TRUE(std::isnan(after.share(1)));
  EXPECT_TRUE(std::isnan(after.of({}).output_error));
}

TEST(AfterLoss, KeepsAMeanOfExactlyOne) {
  const Trace trace = synthetic_trace("uniform:tokens=20");
  const AfterLoss after(parse_spec("window:budget=6").value(), trace.info());
  ASSERT_TRUE(after.any());
  EXPECT_EQ(after.first(), 7U);
  EXPECT_EQ(after.share(1), 1.0);
  EXPECT_DOUBLE_EQ(after.share(0.9), 1 - 0.1 * 20 / 13);
}

TEST(AfterLoss, AgreesWithNumPyOverTheSeriesWithin1e9) {
  std::string python;
  for (const std::string candidate : {"python3", "/usr/bin/python3"}) {
    const std::string probe = candidate + " -c 'import numpy' >/dev/null 2>&1";
    if (python.empty() && std::system(probe.c_str()) == 0) python = candidate;
  }
  if (python.empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
  const std::string source = KVCHECK_SOURCE_DIR;
  const test::TemporaryFolder folder;
  const test::Ran ran = test::run({"replay",
                                   source + "/traces/data/tinystories-2m.qkv.safetensors",
                                   "--policy",
                                   "dense",
                                   "--policy",
                                   "window;positions=in-cache",
                                   "--policy",
                                   "h2o",
                                   "--policy",
                                   "random",
                                   "--policy",
                                   "@rkv-hold",
                                   "--policy",
                                   "h2o;budgets=pyramid:4",
                                   "--policy",
                                   "snapkv;unit=head;chunk=48",
                                   "--policy",
                                   "dense;visibility=top-pages:64/16/1",
                                   "--budget",
                                   "64,200",
                                   "--seeds",
                                   "2",
                                   "-q",
                                   "-o",
                                   folder / "run.db",
                                   "--json",
                                   folder / "run.jsonl"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const std::string command = python + " " + source + "/tests/reports/after_loss_reference.py " +
                              (folder / "run.db") + " " + (folder / "run.jsonl");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace kv::reports
