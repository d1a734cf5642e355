// The program where the system gives few threads, little memory, or a time that jumps.
#include <algorithm>
#include <cerrno>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/faults/fault.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using test::run_shell;
using test::run_with;
using testing::StartsWith;

// In the folder of the sources; short, and each on two threads.
const std::vector<std::string> commands = {
    "replay synthetic:zipf:tokens=64 --policy h2o --policy random --budget 16 --seeds 3",
    "eval --model model/data --text model/data/held-out.txt --tokens 96 --windows 0,32 "
    "--policy h2o --policy window --budget 16",
    "uniformity reservoir:sinks=2,recent=2,budget=12 --tokens 48 --trials 500",
};

class Surroundings : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_let_calls_fail()) GTEST_SKIP() << "sanitizers bring an allocator of their own";
  }

  static Ran run_in_sources(const std::string& before, const std::string& command) {
    return run_shell("cd '" KVCHECK_SOURCE_DIR "'; " + before + " $K " + command +
                     " --quiet --json -");
  }
};

// What `ulimit -u`, or a container's limit of processes, does to an ordinary user.
TEST_F(Surroundings, WithoutThreadsTheResultsAreTheSame) {
  for (const std::string& command : commands) {
    const Ran usual = run_in_sources("", command + " --threads 2");
    ASSERT_EQ(usual.status, 0) << usual.err;
    const Ran alone = run_with({"pthread_create", 1, EAGAIN, true},
                               command + " --threads 2 --quiet --json -", KVCHECK_SOURCE_DIR);
    EXPECT_EQ(alone.status, 0) << command << alone.err;
    EXPECT_EQ(alone.out, usual.out) << command;
  }
}

// `ulimit -v 80000` has room for the work, and not for the stacks of 64 threads. A replay knows
// what it needs and refuses; an evaluation may get threads and then no memory.
TEST_F(Surroundings, LittleAddressSpaceIsEnoughOrIsRefused) {
  for (const std::string& command : commands) {
    const Ran usual = run_in_sources("", command + " --threads 1");
    const Ran little = run_in_sources("ulimit -v 80000;", command + " --threads 64");
    const std::string program = "kvcheck " + command.substr(0, command.find(' '));
    if (little.status == 0) {
      EXPECT_EQ(little.out, usual.out) << command;
      continue;
    }
    if (little.status == 3) {
      EXPECT_EQ(little.err, program + ": out of memory\n");
      continue;
    }
    EXPECT_EQ(little.status, 2);
    EXPECT_THAT(little.err, StartsWith(program + ": this may need "));
    EXPECT_EQ(std::ranges::count(little.err, '\n'), 1) << little.err;
  }
}

TEST_F(Surroundings, MemoryThatRunsOutIsASentenceOnEveryThread) {
  const std::string command =
      "replay synthetic:zipf:tokens=512 --policy h2o --policy random --budget 256 --seeds 400 "
      "--memory 64G --threads ";
  // A little more than the libraries take, which is not the same on every system.
  const std::string little =
      "{ for v in $(seq 40000 1000 400000); do"
      "  (ulimit -v $v; $K --version) >/dev/null 2>&1 && break; "
      // Where the program ends before main() begins, the shell would say so.
      "done; } 2>/dev/null; ulimit -v $((v + 2000));";
  for (const std::string threads : {"1", "2", "64"}) {
    const Ran ran = run_in_sources(little, command + threads);
    EXPECT_EQ(ran.status, 3);
    EXPECT_EQ(ran.err, "kvcheck replay: out of memory\n");
  }
}

TEST_F(Surroundings, ClocksThatJumpChangeNoResult) {
  for (const std::string& command : commands) {
    const Ran usual = run_in_sources("", command + " --threads 2");
    const Ran jumping =
        run_in_sources("KV_FAULT_CLOCK=1 " + test::with_library(), command + " --threads 2");
    EXPECT_EQ(jumping.status, 0) << jumping.err;
    EXPECT_EQ(jumping.out, usual.out) << command;
    EXPECT_EQ(jumping.err, "") << command;
  }
}

}  // namespace
}  // namespace kv
