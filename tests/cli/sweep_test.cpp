#include "kvcheck/cli/replay/sweep.h"

#include <algorithm>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class SweepPlan : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_replay()) GTEST_SKIP() << "policies are not in this build";
  }

  static std::vector<Cell> planned(const Sweep& sweep) {
    std::vector<Cell> cells;
    for (const PlannedCell& planned : plan_cells(sweep).value()) cells.push_back(planned.cell);
    return cells;
  }

  static Error refused(const Sweep& sweep) {
    const Result<std::vector<PlannedCell>> cells = plan_cells(sweep);
    return cells ? Error{Error::Kind::io, "accepted"} : cells.error();
  }
};

TEST_F(SweepPlan, IsOrderedByPolicyThenBudgetThenSeed) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> seen;
  for (const Cell& cell : planned({{"reservoir"}, {8, 16}, {5, 6}, 0})) {
    EXPECT_EQ(cell.spec.policy->name, "reservoir");
    seen.emplace_back(cell.spec.budget, cell.seed);
  }
  using Pair = std::pair<std::uint32_t, std::uint64_t>;
  EXPECT_THAT(seen, ElementsAre(Pair(8, 5), Pair(8, 6), Pair(16, 5), Pair(16, 6)));
}

TEST_F(SweepPlan, RunsWhatDrawsNothingWithTheFirstSeedOnly) {
  const std::vector<Cell> cells = planned({{"window"}, {8, 16}, {5, 6}, 0});
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0].seed, 5U);
  EXPECT_EQ(cells[1].seed, 5U);
}

TEST_F(SweepPlan, RunsDenseOnce) {
  const std::vector<Cell> cells = planned({{"dense"}, {8, 16}, {5, 6}, 0});
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_FALSE(cells[0].spec.bounded());
}

TEST_F(SweepPlan, TakesAllForEveryPolicy) {
  std::vector<std::string> names;
  for (const Cell& cell : planned({{"all"}, {32}, {1}, 0})) {
    names.emplace_back(cell.spec.policy->name);
  }
  std::vector<std::string> expected;
  for (const PolicyEntry& entry : policy_registry()) expected.emplace_back(entry.name);
  EXPECT_EQ(names, expected);
}

TEST_F(SweepPlan, GivesEachBudgetToAPresetWithoutOne) {
  std::vector<std::uint32_t> budgets;
  for (const Cell& cell : planned({{"@h2o"}, {32, 64}, {1}, 0})) {
    budgets.push_back(cell.spec.budget);
  }
  EXPECT_THAT(budgets, ElementsAre(32, 64));
}

TEST_F(SweepPlan, LeavesASpecItsOwnBudgetBesideOthersThatTakeThose) {
  std::vector<std::string> cells;
  for (const Cell& cell :
       planned({{"h2o", "window:budget=24", "@streaming-llm"}, {32, 64}, {1}, 0})) {
    cells.push_back(std::string(cell.spec.policy->name) + " " + std::to_string(cell.spec.budget));
  }
  EXPECT_THAT(cells, ElementsAre("h2o 32", "h2o 64", "window 24", "streaming 512"));
}

TEST_F(SweepPlan, SaysHowAPresetWithABudgetOfItsOwnRunsAtSeveral) {
  EXPECT_EQ(refused({{"@streaming-llm"}, {32, 64}, {1}, 0}).message,
            "'@streaming-llm' has a budget of its own, 512, but --budget asks for 32,64; leave out "
            "--budget, and give the preset once for each, as in --policy "
            "'@streaming-llm:budget=32' --policy '@streaming-llm:budget=64'");
  std::vector<std::uint32_t> budgets;
  for (const Cell& cell :
       planned({{"@streaming-llm:budget=32", "@streaming-llm:budget=64"}, {}, {1}, 0})) {
    budgets.push_back(cell.spec.budget);
  }
  EXPECT_THAT(budgets, ElementsAre(32, 64));
}

TEST_F(SweepPlan, GivesTheChunkToEverySpec) {
  for (const Cell& cell : planned({{"window", "dense"}, {8}, {1}, 3})) {
    EXPECT_EQ(cell.spec.chunk, 3U);
  }
}

TEST_F(SweepPlan, RefusesACellThatIsNamedTwice) {
  EXPECT_EQ(refused({{"window", "window"}, {8}, {1}, 0}).message,
            "--policy 'window' is given twice");
  const Error error = refused({{"window:recent=8", "window"}, {8}, {1}, 0});
  EXPECT_EQ(error.kind, Error::Kind::usage);
  EXPECT_THAT(error.message, HasSubstr("--policy 'window:recent=8' and --policy 'window' are"));
}

TEST_F(SweepPlan, SaysWhatAllHasToDoWithAnError) {
  EXPECT_THAT(refused({{"all", "dense"}, {8}, {1}, 0}).message,
              HasSubstr("the 'dense' of --policy all and --policy 'dense' are the same: dense;"));
  EXPECT_THAT(refused({{"h2o", "all"}, {8}, {1}, 0}).message,
              HasSubstr("--policy 'h2o' and the 'h2o' of --policy all are the same: h2o:"));
  EXPECT_EQ(refused({{"all", "all"}, {8}, {1}, 0}).message, "--policy all is given twice");
  EXPECT_EQ(
      refused({{"all"}, {3}, {1}, 0}).message,
      "--policy all: in spec 'streaming': budget 3 is below the 4 protected tokens (4 sinks)");
}

TEST_F(SweepPlan, PassesOnWhatIsWrongWithASpec) {
  EXPECT_THAT(refused({{"resrvoir"}, {8}, {1}, 0}).message, HasSubstr("'reservoir'"));
  EXPECT_NE(refused({{"reservoir:budget=8"}, {16}, {1}, 0}).message, "accepted");
}

TEST_F(SweepPlan, RefusesMoreCellsThanItCouldMean) {
  std::vector<std::uint64_t> seeds(max_cells);
  EXPECT_EQ(planned({{"reservoir"}, {8}, seeds, 0}).size(), max_cells);
  EXPECT_THAT(refused({{"reservoir", "dense"}, {8}, seeds, 0}).message,
              HasSubstr("more than 4096 cells"));
}

// What check_fit says of the sweep's cells and a trace of 100 tokens.
std::string fit(const Sweep& sweep) {
  TraceInfo trace;
  trace.name = "x";
  trace.tokens = 100;
  const Result<void> fits = check_fit(plan_cells(sweep).value(), trace);
  return fits ? "" : fits.error().message;
}

TEST_F(SweepPlan, LeavesOutOfAllWhatATraceHasNoFactsFor) {
  const Trace rows = attention_trace({}, [](auto, auto, auto, auto) { return 1.0; });
  const auto names = [&](const Sweep& sweep) { return unserved(*plan_cells(sweep), rows); };
  const auto of_all = names({{"all"}, {16, 32}, {1, 2}, 0});
  EXPECT_THAT(*of_all, testing::IsSupersetOf({"key-norm", "expected-attention", "separators"}));
  EXPECT_THAT(*of_all, testing::Not(testing::Contains("h2o")));
  EXPECT_THAT(*of_all, testing::Not(testing::Contains("dense")));
  EXPECT_EQ(std::ranges::count(*of_all, "key-norm"), 1);
  EXPECT_THAT(*names({{"h2o", "window"}, {16}, {1}, 0}), testing::IsEmpty());
  const auto named = names({{"all", "key-norm:recent=2"}, {16}, {1}, 0});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().kind, Error::Kind::usage);
  EXPECT_THAT(named.error().message, HasSubstr("'key-norm:recent=2' looks at keys"));
}

TEST_F(SweepPlan, RefusesABudgetThatWouldNeverEvict) {
  EXPECT_EQ(fit({{"dense", "window"}, {100}, {1}, 0}), "");
  EXPECT_EQ(fit({{"dense", "window"}, {101}, {1}, 0}),
            "budget 101 is above the 100 tokens of 'x': no token would ever be evicted; use dense, "
            "or a smaller budget");
}

TEST_F(SweepPlan, RefusesPagesAmongWhichNothingWouldBeSelected) {
  EXPECT_EQ(fit({{"@quest;visibility=top-pages:100/10"}, {}, {1}, 0}), "");
  EXPECT_EQ(fit({{"@quest"}, {}, {1}, 0}),
            "visibility=top-pages:1024/16/2 attends to more than the 100 tokens of 'x': no token "
            "would ever be left out; use dense, or attend to fewer, as in "
            "visibility=top-pages:64/16/2");
}

TEST_F(SweepPlan, SaysOfABudgetThatItIsTheDefaultOnlyWhereItIs) {
  const std::string by_default =
      "budget 256 (the default without --budget) is above the 100 tokens of 'x': no token would "
      "ever be evicted; use dense, or a smaller number in --budget";
  for (const char* open : {"h2o", "all", "@tova", "window", "streaming:sinks=3"}) {
    EXPECT_EQ(fit({{open}, {}, {1}, 0}), by_default) << open;
  }
  for (const char* fixed : {"h2o:budget=256", "window:recent=256", "@h2o:budget=256"}) {
    EXPECT_THAT(fit({{fixed}, {}, {1}, 0}), testing::StartsWith("budget 256 is above")) << fixed;
  }
  EXPECT_THAT(fit({{"h2o"}, {256}, {1}, 0}), testing::StartsWith("budget 256 is above"));
  EXPECT_THAT(fit({{"@streaming-llm"}, {}, {1}, 0}), testing::StartsWith("budget 512 is above"));
}

}  // namespace
}  // namespace kv::cli
