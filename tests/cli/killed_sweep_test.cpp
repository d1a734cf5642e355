// Sweeps that are killed and run again: no finished cell is lost, and the tables are the same.
#include <fstream>

#include "kvcheck/tests/cli/killed_run.h"
#include "kvcheck/tests/cli/table_dump.h"

namespace kv {
namespace {

using test::table_dump;
using test::TemporaryFolder;
using testing::HasSubstr;

constexpr std::size_t all_cells = 780;

// More cells than a fast machine finishes between two looks at the file.
std::string write_plan(const TemporaryFolder& folder) {
  const std::string path = folder / "plan.json";
  std::ofstream(path) << R"({"replay": {"traces": ["synthetic:zipf:tokens=160,kind=qkv", ")"
                      << test::a_trace() << R"(", "synthetic:drift:tokens=160"],
      "policies": ["random", "reservoir", "h2o", "tova"], "budgets": [16, 24], "seeds": 64}})";
  return path;
}

// How many cells the first run of the file holds, as `report --list` says: "3 traces, 42 cells".
std::size_t cells_in(const std::string& path) {
  const std::string list = test::run({"report", path, "--list"}).out;
  const std::size_t end = list.find(" cell");
  const std::size_t begin = list.rfind(' ', end - 1) + 1;
  return std::stoul(list.substr(begin, end - begin));
}

TEST(KilledSweep, LosesNoCellAndEndsWithTheTablesOfAWholeOne) {
  const TemporaryFolder folder;
  const std::string plan = write_plan(folder);
  ASSERT_EQ(test::run({"sweep", plan, "-o", folder / "whole.db", "--threads", "2"}).status, 0);
  const std::string output = folder / "run.db";
  std::size_t kills = 0;
  std::size_t unfinished = 0;
  std::size_t held = 0;
  for (const std::string threads : {"1", "2", "7", "2", "1", "3", "2", "2"}) {
    const test::Words words = {"sweep", plan, "-o", output, "--threads", threads, "--quiet"};
    const std::size_t more = held == 0 ? test::empty_results_size() + 26'000 : 6000;
    const bool killed = test::kill_when_grown(output, words, more);
    const std::size_t now = cells_in(output);
    EXPECT_GE(now, held);
    held = now;
    if (!killed) break;
    ++kills;
    if (held > 0 && held < all_cells) ++unfinished;
  }
  EXPECT_GE(kills, 3U);
  EXPECT_GT(unfinished, 0U);
  const test::Ran last = test::run({"sweep", plan, "-o", output, "--threads", "2"});
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_THAT(last.out, HasSubstr("holds 780 of 780 cells of the plan: " +
                                  std::to_string(all_cells - held) + " were run"));
  EXPECT_EQ(table_dump(output), table_dump(folder / "whole.db"));
}

TEST(KilledSweep, RefusesASecondWriter) {
  const TemporaryFolder folder;
  const std::string plan = write_plan(folder);
  const test::Ran ran = test::run_shell(
      "cd " + (folder / "") +
      " && flock -x run.db true && exec 9>>run.db && flock -x 9 && $K sweep plan.json -o run.db");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err,
              HasSubstr("'run.db' is being written by another run, of this process or of another"));
}

}  // namespace
}  // namespace kv
