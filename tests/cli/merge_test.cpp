// kvcheck merge: the files of shards become the file of one process.
#include <fstream>

#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/cli/table_dump.h"

namespace kv {
namespace {

using test::Ran;
using test::run;
using test::table_dump;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

// A folder with a plan of 56 cells on four traces, the file of all of them and those of two shards.
class Merge : public testing::Test {
 protected:
  Merge() {
    write_plan("plan.json", "16");
    sweep("plan.json", "whole.db", {});
    sweep("plan.json", "a.db", {"--shard", "1/2"});
    sweep("plan.json", "b.db", {"--shard", "2/2"});
  }

  void write_plan(const std::string& name, const std::string& budgets) const {
    std::ofstream(folder_ / name)
        << R"({"replay": {"traces": ["synthetic:zipf:tokens=64", "synthetic:zipf:tokens=48",
               "synthetic:drift:tokens=64", "synthetic:uniform:tokens=64"],
               "policies": ["dense", "h2o", "random", "tova"], "seeds": 11, "budgets": [)"
        << budgets << "]}}\n";
  }

  void sweep(const std::string& plan, const std::string& output, std::vector<std::string> more) {
    std::vector<std::string> words = {"sweep", folder_ / plan, "-o", folder_ / output};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run(words);
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  [[nodiscard]] Ran merge(const std::vector<std::string>& inputs, const std::string& output) const {
    std::vector<std::string> words = {"merge"};
    for (const std::string& input : inputs) words.push_back(folder_ / input);
    words.insert(words.end(), {"-o", folder_ / output});
    return run(words);
  }

  void tamper(const std::string& name, const char* sql) const {
    auto database = reports::Database::open(folder_ / name).value();
    ASSERT_TRUE(database.execute(sql));
  }

  [[nodiscard]] std::string dump(const std::string& name) const {
    return table_dump(folder_ / name);
  }

  TemporaryFolder folder_;
};

TEST_F(Merge, OfAllShardsHasTheTablesOfOneProcess) {
  EXPECT_NE(dump("a.db"), dump("whole.db"));
  const Ran ran = merge({"b.db", "a.db"}, "run.db");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("holds 56 of 56 cells of the plan: 56 were added."));
  EXPECT_EQ(dump("run.db"), dump("whole.db"));
}

TEST_F(Merge, OfSomeShardsSaysThatCellsAreMissingAndContinues) {
  const Ran first = merge({"a.db"}, "run.db");
  EXPECT_EQ(first.status, 3);
  EXPECT_THAT(first.out, HasSubstr("Run the shards that are missing"));
  const Ran second = merge({"b.db"}, "run.db");
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(dump("run.db"), dump("whole.db"));
}

TEST_F(Merge, TakesCellsThatSeveralFilesHoldOnce) {
  const Ran ran = merge({"a.db", "whole.db", "b.db"}, "run.db");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(" 56 were added, 56 were there with the same results"));
  EXPECT_EQ(dump("run.db"), dump("whole.db"));
  // The sweep itself finds nothing left to run in it.
  EXPECT_THAT(run({"sweep", folder_ / "plan.json", "-o", folder_ / "run.db"}).out,
              HasSubstr(": 0 were run"));
}

TEST_F(Merge, NamesTheCellOfWhichResultsDiffer) {
  tamper("a.db",
         "UPDATE summaries SET evictions = evictions + 1 WHERE cell ="
         " (SELECT max(id) FROM cells WHERE spec LIKE 'random%')");
  const Ran ran = merge({"whole.db", "a.db"}, "run.db");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err,
              HasSubstr("has another result than the files before it of the cell 'random:"));
  EXPECT_THAT(ran.err, HasSubstr("with seed "));
  EXPECT_THAT(folder_.names(), ElementsAre("a.db", "b.db", "plan.json", "whole.db"));
}

TEST_F(Merge, NamesTheTraceOfWhichResultsDiffer) {
  tamper("a.db", "UPDATE dense SET entropy = entropy + 0.5");
  EXPECT_THAT(merge({"whole.db", "a.db"}, "run.db").err,
              HasSubstr("has another result than the files before it of the trace '"));
}

TEST_F(Merge, RefusesOtherPlansTracesAndVersions) {
  write_plan("other.json", "17");
  sweep("other.json", "other.db", {});
  EXPECT_THAT(merge({"a.db", "other.db"}, "run.db").err,
              HasSubstr("holds a sweep of another plan"));
  tamper("b.db", "UPDATE sweeps SET identity = '0000000000000000'");
  EXPECT_THAT(merge({"a.db", "b.db"}, "run.db").err,
              HasSubstr("b.db' holds other traces, texts or models of the plan than"));
  tamper("b.db", "UPDATE runs SET version = '0.0.9'");
  EXPECT_THAT(merge({"a.db", "b.db"}, "run.db").err,
              HasSubstr("b.db' was written by kvcheck 0.0.9; expected "));
  EXPECT_FALSE(std::ifstream(folder_ / "run.db").good());
}

TEST_F(Merge, RefusesWhatIsNoShard) {
  ASSERT_EQ(run({"replay", "synthetic:zipf:tokens=64", "--policy", "h2o", "--budget", "8", "-o",
                 folder_ / "replay.db"})
                .status,
            0);
  EXPECT_THAT(merge({"replay.db"}, "run.db").err, HasSubstr("holds no run of kvcheck sweep"));
  EXPECT_THAT(merge({"a.db", "b.db"}, "b.db").err, HasSubstr("is an input and the output"));
  tamper("a.db", "UPDATE cells SET ordinal = 10000 WHERE id = (SELECT max(id) FROM cells)");
  EXPECT_THAT(merge({"a.db"}, "run.db").err, HasSubstr("is damaged: run 1 holds cell 10000 of"));
  EXPECT_THAT(merge({"none.db"}, "run.db").err, HasSubstr("none.db"));
}

}  // namespace
}  // namespace kv
