#include "cli/sweep.h"

#include <algorithm>

#include "policies/registry.h"
#include "tests/cli/run.h"

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
    const Result<std::vector<Cell>> cells = plan_cells(sweep);
    EXPECT_TRUE(cells) << cells.error().message;
    return cells.value();
  }

  static Error refused(const Sweep& sweep) {
    const Result<std::vector<Cell>> cells = plan_cells(sweep);
    return cells ? Error{Error::Kind::io, "accepted"} : cells.error();
  }
};

TEST_F(SweepPlan, GoesByPolicyThenBudgetThenSeed) {
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
  EXPECT_THAT(refused({{"all", "dense"}, {8}, {1}, 0}).message,
              HasSubstr("'dense' is given twice"));
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

TEST_F(SweepPlan, RefusesABudgetThatWouldNeverEvict) {
  const std::vector<Cell> cells = planned({{"dense", "window"}, {8}, {1}, 0});
  TraceInfo trace;
  trace.name = "x";
  trace.tokens = 8;
  EXPECT_TRUE(check_fit(cells, trace));
  trace.tokens = 7;
  EXPECT_EQ(check_fit(cells, trace).error().message,
            "budget 8 is above the 7 tokens of 'x': nothing would ever be evicted; use dense, or a "
            "smaller budget");
}

}  // namespace
}  // namespace kv::cli
