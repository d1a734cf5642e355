// kvcheck sweep under mpirun. Skipped where the build has no MPI.
#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/killed_run.h"
#include "kvcheck/tests/cli/table_dump.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using test::table_dump;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Open MPI refuses to run as root, and with more ranks than cores, unless an option allows it.
constexpr std::string_view mpirun =
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; mpirun --oversubscribe ";

class RanksTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!KVCHECK_MPI) GTEST_SKIP() << "this build has no MPI";
    write_plan(24);
  }

  void write_plan(int seeds) {
    std::ofstream(folder_ / "plan.json")
        << R"({"replay": {"traces": ["synthetic:zipf:tokens=160,kind=qkv", "t.safetensors",
               "synthetic:drift:tokens=160"],
            "policies": ["random", "reservoir", "h2o", "tova"], "budgets": [16, 24],
            "seeds": )"
        << seeds << "}}";
    std::filesystem::copy_file(test::a_trace(), folder_ / "t.safetensors",
                               std::filesystem::copy_options::overwrite_existing);
  }

  // In the folder of the plan; `words` follow mpirun.
  Ran start(const std::string& words) {
    return test::run_shell("cd " + (folder_ / "") + "; " + std::string(mpirun) + words);
  }

  // The tables of a sweep by one process.
  std::string alone() {
    const Ran ran = test::run_shell("cd " + (folder_ / "") + "; $K sweep plan.json -o alone.db");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return table_dump(folder_ / "alone.db");
  }

  test::TemporaryFolder folder_;
};

TEST_F(RanksTest, HaveTheTablesOfOneProcess) {
  const Ran ran = start("-n 2 $K sweep plan.json -o run.db --threads 1");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("holds 300 of 300 cells of the plan: 300 were run"));
  EXPECT_THAT(ran.err, AllOf(HasSubstr("2 ranks ran "), Not(HasSubstr("ran 0 to"))));
  EXPECT_EQ(table_dump(folder_ / "run.db"), alone());
}

TEST_F(RanksTest, DoWithoutOneThatHasNoTrace) {
  std::filesystem::create_directory(folder_ / "other");
  std::filesystem::copy_file(folder_ / "plan.json", folder_ / "other/plan.json");
  const Ran ran =
      start("-n 1 $K sweep plan.json -o run.db : -n 1 --wdir other $K sweep plan.json -o run.db");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("runs no more cells: "));
  EXPECT_THAT(ran.err, HasSubstr("'t.safetensors'"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other/run.db"));
  EXPECT_EQ(table_dump(folder_ / "run.db"), alone());
}

TEST_F(RanksTest, LeaveTimingsToTheFirst) {
  std::ofstream(folder_ / "plan.json")
      << R"({"speed": {"model": ")" << test::a_model()
      << R"(", "lengths": [8], "tokens": 2, "runs": 4, "policies": ["dense"]}})";
  const Ran ran = start("-n 2 $K sweep plan.json -o run.db");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("holds 4 of 4 cells of the plan: 4 were run"));
  EXPECT_THAT(ran.err, Not(HasSubstr("ranks ran")));
}

TEST_F(RanksTest, SayOnceWhatIsWrongWithThePlan) {
  std::ofstream(folder_ / "plan.json")
      << R"({"replay": {"traces": ["t.safetensors"], "policies": ["h3o"]}})";
  const Ran ran = start("-n 2 $K sweep plan.json -o run.db");
  EXPECT_EQ(ran.status, 2);
  const std::size_t first = ran.err.find("'h3o'");
  ASSERT_NE(first, std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("kvcheck:", first), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.db"));
}

// A rank that dies takes the job with it; what was finished is in the file.
TEST_F(RanksTest, ContinueAfterOneWasKilled) {
  write_plan(300);
  const Ran killed =
      test::run_shell("cd " + (folder_ / "") +
                      "; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n" +
                      R"sh(mpirun --oversubscribe -n 2 $K sweep plan.json -o run.db --threads 1 &
         until [ "$(stat -c %s run.db 2>/dev/null || echo 0)" -gt 200000 ]; do sleep 0.01; done
         for rank in $(cat /proc/$!/task/*/children); do
           grep -qz OMPI_COMM_WORLD_RANK=1 /proc/$rank/environ && kill -9 $rank && echo killed
         done
         wait $!)sh");
  EXPECT_NE(killed.status, 0);
  EXPECT_THAT(killed.out, HasSubstr("killed"));
  const Ran ran = start("-n 2 $K sweep plan.json -o run.db --threads 1");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("holds 3612 of 3612 cells of the plan"),
                             Not(HasSubstr("3612 were run"))));
  EXPECT_EQ(table_dump(folder_ / "run.db"), alone());
}

TEST(NoRanks, AreAnErrorWhereMpiStartedSeveral) {
  const test::TemporaryFolder folder;
  const Ran ran = test::run_shell("cp $K " + (folder / "kvcheck") + "; OMPI_COMM_WORLD_SIZE=2 " +
                                  (folder / "kvcheck") + " sweep plan.json -o run.db");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("a launcher of MPI has started 2 ranks, but there is no "
                                 "kvcheck_mpi.so; expected a build with -DKVCHECK_MPI=ON"));
}

}  // namespace
}  // namespace kv
