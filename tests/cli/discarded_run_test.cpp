// A run that is discarded leaves no row in any table.
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/cli/table_dump.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv {
namespace {

TEST(DiscardedRun, LeavesTheTablesOfARunBeforeIt) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.db";
  const auto succeeds = [](const std::vector<std::string>& words) {
    const test::Ran ran = test::run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
  };
  succeeds({"trace", "generate", "zipf", "--tokens", "64", "--heads", "2", "--kind", "qkv", "-o",
            folder / "whole"});
  succeeds({"trace", "slice", folder / "whole", "--queries", "8/60", "-o", folder / "sampled"});
  succeeds({"replay", folder / "sampled", "--policy", "h2o", "--budget", "16", "--prompt", "32",
            "--quiet", "-o", file});
  const auto stored = reports::read_run(file);
  ASSERT_TRUE(stored) << stored.error().message;
  ReplayResult result = stored->traces.front();
  result.cells.front().bounds = {{.layer = 0, .head = 0, .heads = 1, .optimum = 0.5}};
  result.trace.kv_head_numbers = {0, 2};
  const std::string before = test::table_dump(file);
  auto writer = reports::ResultsWriter::begin(file, "kvcheck again");
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(result));
  ASSERT_TRUE(writer->add(testing::fake_evaluation(512, true)));
  ASSERT_TRUE(writer->add(testing::fake_timing()));
  ASSERT_TRUE(writer->add(testing::fake_tasks()));
  // Every table but that of sweeps holds something of the run.
  auto database = reports::Database::open(file).value();
  for (const std::string table :
       {"sampled_traces", "sampled_cells", "sampled_heads", "recorded_kv_heads", "timing_threads",
        "timed_repetitions", "timed_details"}) {
    reports::Statement count(database, ("SELECT count(*) FROM " + table).c_str());
    ASSERT_TRUE(count.next());
    EXPECT_GT(count.integer(0), table == "sampled_heads" ? 2 : 0) << table;
  }
  ASSERT_TRUE(writer->discard());
  EXPECT_EQ(test::table_dump(file), before);
}

}  // namespace
}  // namespace kv
