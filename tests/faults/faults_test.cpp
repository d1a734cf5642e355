// The program when calls of the system fail: a small sweep, and what ./dev faults once found.
#include <algorithm>
#include <cerrno>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/faults/fault.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Fault;
using test::Ran;
using test::run_with;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_let_calls_fail()) GTEST_SKIP() << "sanitizers bring an allocator of their own";
    test::write_even_attention(trace_, 2, 12);
  }

  // A replay that adds to the results file.
  [[nodiscard]] std::string replay() const {
    return "replay " + trace_ + " --policy window --budget 4 --quiet -o " + results_;
  }

  test::TemporaryFolder folder_;
  test::TemporaryFolder out_;
  std::string trace_ = folder_ / "even.npy";
  std::string results_ = out_ / "run.db";
};

// A few hundred of the faults that ./dev faults tries.
TEST_F(Faults, EndAsPromisedInASmallSweep) {
  if (test::run_shell("python3 --version").status != 0) GTEST_SKIP() << "there is no python3";
  const Ran ran =
      test::run_shell("python3 '" KVCHECK_SOURCE_DIR "/tests/faults/faults.py' $K '" KVCHECK_FAULTS
                      "' replay record report trace-convert uniformity policies --most 2");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("0 did not end as promised"));
}

// ICU dies if it gets no memory while it compiles a tokenizer's pattern, and calls lack of memory
// an error of the text. Which call that is depends on the C library, so all of them are tried.
TEST_F(Faults, OfMemoryInATokenizerAreLackOfMemory) {
  if (test::run_shell("python3 --version").status != 0) GTEST_SKIP() << "there is no python3";
  const Ran ran =
      test::run_shell("python3 '" KVCHECK_SOURCE_DIR "/tests/faults/faults.py' $K '" KVCHECK_FAULTS
                      "' generate --call malloc --error ENOMEM");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("0 did not end as promised"));
}

// The streams of the C++ library drop what they have no memory for, and their users exit with 0.
TEST_F(Faults, OfMemoryWhileTextIsWrittenAreLackOfMemory) {
  if (test::run_shell("python3 --version").status != 0) GTEST_SKIP() << "there is no python3";
  const Ran ran =
      test::run_shell("python3 '" KVCHECK_SOURCE_DIR "/tests/faults/faults.py' $K '" KVCHECK_FAULTS
                      "' policies --call malloc");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("0 did not end as promised"));
}

TEST_F(Faults, AreJudgedByHowTheProgramEnds) {
  if (test::run_shell("python3 --version").status != 0) GTEST_SKIP() << "there is no python3";
  const Ran ran = test::run_shell("python3 '" KVCHECK_SOURCE_DIR "/tests/faults/judging.py'");
  EXPECT_EQ(ran.out, "judged right: 19 ends\n") << ran.err;
}

TEST_F(Faults, MemoryThatRunsOutBeforeACommandBeginsIsASentence) {
  const Ran ran = run_with({"malloc", 1, ENOMEM}, "policies @h2o");
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.err, "kvcheck: out of memory\n");
}

TEST_F(Faults, AResultsFileThatCannotBeReadIsNotCalledDamaged) {
  ASSERT_EQ(test::run_shell("$K " + replay()).status, 0);
  for (unsigned at = 1; at <= 40; ++at) {
    const Ran ran = run_with({"pread", at, EIO}, replay());
    if (ran.status == 0) continue;
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, Not(HasSubstr("damaged"))) << at;
    EXPECT_THAT(ran.err, HasSubstr(results_)) << at;
  }
}

TEST_F(Faults, ARunThatFailsOnAFullDiskHasOneSentence) {
  const Ran ran = run_with({"write", 1, ENOSPC, true}, replay() + " --json " + (out_ / "run.json"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, EndsWith("run.json': No space left on device\n"));
  EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
}

TEST_F(Faults, AFirstRunThatFailsLeavesNoJournal) {
  for (unsigned at = 1; at <= 8; ++at) {
    EXPECT_EQ(run_with({"fdatasync", at, EIO, true}, replay()).status, 2) << at;
    EXPECT_THAT(out_.names(), IsEmpty()) << at;
  }
}

TEST_F(Faults, AReportThatCannotBeWrittenLeavesNothing) {
  ASSERT_EQ(test::run_shell("$K " + replay()).status, 0);
  for (const unsigned at : {1U, 9U, 10U, 11U, 12U}) {
    const Ran ran = run_with({"rename", at, EIO}, "report " + results_ + " -o " + (out_ / "page"));
    EXPECT_EQ(ran.status, 2) << at;
    EXPECT_THAT(ran.err, HasSubstr("Input/output error")) << at;
    EXPECT_THAT(out_.names(), ElementsAre("run.db")) << at;
  }
}

TEST_F(Faults, AReportRemovesItsFolderWithoutMemory) {
  ASSERT_EQ(test::run_shell("$K " + replay()).status, 0);
  for (unsigned at = 6000; at <= 9000; at += 500) {
    const Ran ran =
        run_with({"malloc", at, ENOMEM, true}, "report " + results_ + " -o " + (out_ / "page"));
    EXPECT_EQ(ran.status, 3) << at;
    EXPECT_EQ(ran.err, "kvcheck report: out of memory\n") << at;
    EXPECT_THAT(out_.names(), ElementsAre("run.db")) << at;
  }
}

TEST_F(Faults, SelftestsSayWhatTheSystemRefused) {
  const std::string selftest = "selftest --filter physical-length-as-count --workers 2 --quiet";
  const Ran none = run_with({"fork", 1, EAGAIN}, selftest);
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err,
            "kvcheck selftest: cannot start a child process: Resource temporarily unavailable\n");
  // The next is the second worker, without which one does the work of two, or the first worker's
  // first battery, whichever comes first.
  for (const unsigned k : {2U, 3U}) {
    const Ran ran = run_with({"fork", k, EAGAIN}, selftest);
    if (ran.status == 0) {
      EXPECT_EQ(ran.err, "");
      continue;
    }
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.err,
              "kvcheck selftest: the battery of 'physical-length-as-count' in a child process: "
              "cannot start a child process: Resource temporarily unavailable\n");
  }
}

TEST_F(Faults, ChecksSayThatTheSystemStartsNoProcess) {
  const std::string check = "check streaming:sinks=2,recent=6,budget=8 --filter survives --quiet";
  const Ran process = run_with({"fork", 1, EAGAIN}, check);
  EXPECT_EQ(process.status, 2);
  EXPECT_EQ(process.err,
            "kvcheck check: cannot start a child process: Resource temporarily unavailable\n");
  // The first page that is shared is the clock's, which does without it.
  EXPECT_EQ(run_with({"mmap", 1, ENOMEM}, check).status, 0);
  const Ran memory = run_with({"mmap", 2, ENOMEM}, check);
  EXPECT_EQ(memory.status, 2);
  EXPECT_EQ(memory.err,
            "kvcheck check: cannot share memory with child processes: Cannot allocate memory\n");
}

}  // namespace
}  // namespace kv
