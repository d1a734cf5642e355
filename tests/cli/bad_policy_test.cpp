// A policy of a user's library that throws or names wrong victims ends its run with one sentence
// and exit status 2, in any number of threads, and leaves no run behind.
#include <filesystem>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using testing::HasSubstr;
using testing::IsEmpty;

struct Way {
  std::string name;
  std::string sentence;
};

const std::vector<Way> ways = {
    {"throw", "policy 'bad' throws an exception: boom\\x1b[31m"},
    {"number", "policy 'bad' throws an exception of an unknown kind"},
    {"observe", "policy 'bad' throws an exception: boom\\x1b[31m"},
    {"forget", "policy 'bad' throws an exception: boom\\x1b[31m"},
    {"none", "policy 'bad' names victims that are none: found only 0"},
    {"beyond", "policy 'bad' names victims that are none: found "},
    {"make", "the maker of 'bad' throws an exception: no such luck"},
};

class BadPolicy : public testing::Test {
 protected:
  // `command` under each way to be bad, beside a good policy: $BAD is the spec.
  void expect_refused(const std::string& command) {
    for (const Way& way : ways) {
      const Ran ran = run_bad(command, way.name);
      EXPECT_EQ(ran.status, 2) << command << " " << way.name << "\n" << ran.err;
      EXPECT_THAT(ran.err, HasSubstr(way.sentence)) << command;
      EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
      EXPECT_THAT(out_.names(), IsEmpty()) << command << " " << way.name;
    }
    const Ran good = run_bad(command, "never");
    EXPECT_EQ(good.status, 0) << command << "\n" << good.err;
    std::filesystem::remove(out_ / "run.db");
  }

  [[nodiscard]] Ran run_bad(const std::string& command, const std::string& how) const {
    return test::run_shell("BAD=bad:how=" + how + "; cd '" + (out_ / "") +
                           "'; $K --load '" KVCHECK_BINARY_DIR "/tests/libkvcheck_bad_policy.so' " +
                           command);
  }

  const test::TemporaryFolder out_;
  const std::string trace_ = "'" KVCHECK_SOURCE_DIR "/traces/data/tinystories-2m.qkv.safetensors' ";
  const std::string model_ = "--model '" KVCHECK_SOURCE_DIR "/model/data' ";
  const std::string text_ = "--text '" KVCHECK_SOURCE_DIR "/model/data/held-out.txt' --tokens 100 ";
};

TEST_F(BadPolicy, EndsAReplay) {
  for (const std::string threads : {"1", "2", "7"}) {
    expect_refused("replay " + trace_ + "--policy fifo --policy $BAD --budget 16,32 --threads " +
                   threads + " --quiet -o run.db");
  }
}

TEST_F(BadPolicy, EndsAnEvaluation) {
  for (const std::string threads : {"1", "2", "7"}) {
    expect_refused("eval " + model_ + text_ +
                   "--policy fifo --policy $BAD --budget 16,32 --threads " + threads +
                   " --quiet -o run.db");
  }
}

TEST_F(BadPolicy, EndsATiming) {
  expect_refused(
      "speed " + model_ +
      "--policy fifo --policy $BAD --budget 16 --length 64 --tokens 2 --quiet -o run.db");
}

TEST_F(BadPolicy, EndsARecording) {
  expect_refused("record " + model_ + text_ +
                 "--policy $BAD --budget 16 --quiet -o run.db 2>err; "
                 "status=$?; grep -v ^wrote err >&2; rm err; (exit $status)");
}

TEST_F(BadPolicy, LeavesEarlierRunsAlone) {
  const std::string command =
      "replay " + trace_ + "--policy $BAD --budget 16 --quiet -o run.db --threads 2";
  ASSERT_EQ(run_bad(command, "never").status, 0);
  for (const Way& way : ways) {
    EXPECT_EQ(run_bad(command, way.name).status, 2);
    EXPECT_EQ(reports::list_runs(out_ / "run.db").value().size(), 1U) << way.name;
  }
}

}  // namespace
}  // namespace kv
