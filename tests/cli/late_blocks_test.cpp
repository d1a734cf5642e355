#include "kvcheck/cli/sweep/late_blocks.h"

#include <limits>

#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::cli {
namespace {

using kv::testing::taken;

TEST(LateBlocks, AreStoredTogetherUnlessOneTookLong) {
  const kv::testing::TemporaryFolder folder;
  auto file = taken(reports::SweepFile::open(folder.path("a.db"), {.command = "kvcheck sweep",
                                                                   .identity = "0123456789abcdef",
                                                                   .plan = "{}",
                                                                   .sources = 6,
                                                                   .cells = 1,
                                                                   .total = 6}));
  ReplayResult result = kv::testing::fake_replay(kv::testing::small_fake());
  result.cells.resize(1);
  LateBlocks late(file, false);
  const auto add = [&](std::size_t source, double seconds) {
    const SweepBlock block{.source = source, .cells = {0}};
    const reports::SweepResult cells = result;
    ASSERT_TRUE(late.add({.block = block, .result = cells, .seconds = seconds}));
  };
  add(0, 1);
  EXPECT_EQ(file.held(), 1U);
  add(1, 0.001);
  add(2, 0.001);
  EXPECT_LE(file.held(), 3U);  // 1, unless the machine paused
  add(3, std::numeric_limits<double>::infinity());
  EXPECT_EQ(file.held(), 4U);
  add(4, 0.001);
  ASSERT_TRUE(late.store());
  EXPECT_EQ(file.held(), 5U);
  LateBlocks at_once(file, true);
  const SweepBlock last{.source = 5, .cells = {0}};
  ASSERT_TRUE(at_once.add({.block = last, .result = result, .seconds = 0.001}));
  EXPECT_EQ(file.held(), 6U);
  ASSERT_TRUE(late.store());  // there is nothing to store
  EXPECT_EQ(file.held(), 6U);
}

}  // namespace
}  // namespace kv::cli
