// The built program: what only a process of its own can show.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using test::read_text;
using test::run_shell;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Program, ExitsWithItsStatus) {
  EXPECT_EQ(run_shell("$K --version").status, 0);
  EXPECT_EQ(run_shell("$K").status, 2);
  EXPECT_EQ(run_shell("$K nonsense").status, 2);
  EXPECT_EQ(run_shell("$K replay").status, 2);
}

TEST(Program, RefusesKernelsThatItDoesNotHave) {
  const Ran unknown = run_shell("KV_KERNEL=avx51 $K --version");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.err, "kvcheck: unknown KV_KERNEL 'avx51'; did you mean 'avx512'?\n");
  const Ran foreign = run_shell("KV_KERNEL=neon $K --version");
  EXPECT_EQ(foreign.status, 2) << "this is no ARM";
  EXPECT_THAT(foreign.err, HasSubstr("KV_KERNEL asks for neon, which this machine does not run"));
  EXPECT_THAT(foreign.err, HasSubstr("scalar\n"));
  const Ran scalar = run_shell("KV_KERNEL=scalar $K --version");
  EXPECT_EQ(scalar.status, 0);
  EXPECT_THAT(scalar.out, HasSubstr("\nkernels: scalar"));
  EXPECT_EQ(run_shell("KV_KERNEL= $K --version").status, 0);
}

TEST(Program, SaysThatItsOutputCouldNotBeWritten) {
  const Ran full = run_shell("$K help >/dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_EQ(full.err, "kvcheck: cannot write to standard output: No space left on device\n");
  const Ran closed = run_shell("$K help replay >&-");
  EXPECT_EQ(closed.status, 2);
  EXPECT_EQ(closed.err, "kvcheck: cannot write to standard output: Bad file descriptor\n");
}

TEST(Program, EndsQuietlyWhenItsReaderHasGone) {
  const Ran ran = run_shell("{ sleep 0.2; $K help; echo $? >&2; } | true");
  EXPECT_EQ(ran.err, "0\n");
}

// The laws of a subject in this process, of a program, and of all mutants: minutes of work.
TEST(Program, StopsTryingLawsWhenInterrupted) {
  const std::vector<std::string> commands = {"check h2o:budget=64 --nightly >/dev/null",
                                             "check --time 1h --exec 'sleep 100'",
                                             "selftest --runs 1000"};
  for (const std::string& command : commands) {
    const Ran ran = run_shell("$K " + command +
                              " & sleep 0.7; kill $!; for i in $(seq 50); do sleep 0.1; "
                              "kill -0 $! 2>/dev/null || break; done; kill -9 $! 2>/dev/null; "
                              "wait $!; echo $?");
    EXPECT_EQ(ran.out, "130\n") << command;
    // A check that had tried something by then says what it found.
    const bool may_report = &command == commands.data();
    EXPECT_THAT(ran.err,
                HasSubstr(may_report ? ": interrupted; " : ": interrupted; nothing was written\n"));
  }
}

class ReplayProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::can_replay()) GTEST_SKIP() << "policies or trace reading are not in this build";
    test::write_even_attention(trace_, 2, 32);
  }

  test::TemporaryFolder folder_;
  std::string trace_ = folder_ / "even.npy";
};

TEST_F(ReplayProgram, FailsOnAFullDiskWithoutSpoilingTheResults) {
  const std::string results = folder_ / "run.db";
  const Ran ran = run_shell("$K replay " + trace_ + " --policy window --budget 8 -o " + results +
                            " >/dev/full");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "kvcheck replay: cannot write to standard output: No space left on device\n");
  EXPECT_TRUE(reports::read_run(results).value().summary.complete);
}

TEST_F(ReplayProgram, KeepsItsWordsOutOfItsFilesWhenStandardOutputIsClosed) {
  const std::string json = folder_ / "x.json";
  const std::string arguments =
      "$K replay " + trace_ + " --policy window --budget 8 --json " + json;
  EXPECT_EQ(run_shell(arguments + " >&-").status, 2);
  const std::string closed = read_text(json);
  EXPECT_EQ(run_shell(arguments).status, 0);
  EXPECT_EQ(closed, read_text(json));
}

TEST_F(ReplayProgram, WritesToPipesWhatItWritesToFiles) {
  const std::string json = folder_ / "x.json";
  const std::string csv = folder_ / "x.csv";
  const std::string replay = "$K replay " + trace_ + " --policy window --budget 8 --quiet ";
  ASSERT_EQ(run_shell(replay + "--per-head --json " + json + " --csv " + csv).status, 0);
  // The reader is slower than the writer and reads to the end.
  const Ran by_number = run_shell("{ " + replay +
                                  "--per-head --json /dev/fd/3 3>&1 >/dev/null; } "
                                  "| { sleep 0.1; cat; }");
  EXPECT_EQ(by_number.out, read_text(json));
  const std::string pipe = folder_ / "pipe";
  const Ran named = run_shell("mkfifo " + pipe + "; timeout 20 cat " + pipe + " & " + replay +
                              "--per-head --csv " + pipe + " >/dev/null; wait");
  EXPECT_EQ(named.out, read_text(csv));
  EXPECT_EQ(run_shell(replay + "--json /dev/null").status, 0);
  const Ran full = run_shell(replay + "--json /dev/full >/dev/null");
  EXPECT_EQ(full.status, 2);
  EXPECT_EQ(full.err, "kvcheck replay: cannot write '/dev/full': No space left on device\n");
}

TEST_F(ReplayProgram, NeverOpensAFileInThePlaceOfAClosedStandardOutput) {
  test::write_even_attention(trace_, 2, 1024);
  const Ran ran =
      run_shell("$K replay " + trace_ + " --policy reservoir --budget 64 --seeds 4096 --quiet -o " +
                (folder_ / "run.db") + " >&- & sleep 0.5; readlink /proc/$!/fd/1; kill $!; wait");
  EXPECT_EQ(ran.out, "/dev/null\n");
}

// Starts a replay of some seconds; gives its process once the results file is there.
pid_t start_long_replay(const std::string& trace, const test::TemporaryFolder& folder) {
  const std::string results = folder / "run.db";
  const std::string json = folder / "x.json";
  const std::string err = folder / "err";
  const pid_t child = ::fork();
  if (child == 0) {
    const int out = ::open("/dev/null", O_WRONLY);
    const int remarks = ::open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(remarks, STDERR_FILENO);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::execl(KVCHECK_PROGRAM, "kvcheck", "replay", trace.c_str(), "--policy", "reservoir",
            "--budget", "64", "--seeds", "4096", "--threads", "1", "-o", results.c_str(), "--json",
            json.c_str(), nullptr);
    ::_exit(127);
  }
  for (int i = 0; i < 1000 && !std::filesystem::exists(results); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return child;
}

TEST_F(ReplayProgram, StopsInGoodOrderWhenInterrupted) {
  test::write_even_attention(trace_, 2, 1024);
  for (const int signal : {SIGINT, SIGTERM}) {
    const test::TemporaryFolder out;
    const pid_t child = start_long_replay(trace_, out);
    ASSERT_EQ(::kill(child, signal), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 130) << read_text(out / "err");
    EXPECT_EQ(read_text(out / "err"), "kvcheck replay: interrupted after 0 of 1 traces; '" +
                                          (out / "run.db") + "' holds an empty, incomplete run\n");
    EXPECT_THAT(out.names(), ElementsAre("err", "run.db"));
    const std::vector<reports::RunSummary> runs = reports::list_runs(out / "run.db").value();
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_FALSE(runs.front().complete);
  }
}

TEST_F(ReplayProgram, LeavesAReadableFileWhenKilled) {
  test::write_even_attention(trace_, 2, 1024);
  const test::TemporaryFolder out;
  const pid_t child = start_long_replay(trace_, out);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::vector<reports::RunSummary> runs = reports::list_runs(out / "run.db").value();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_FALSE(runs.front().complete);
  EXPECT_FALSE(std::filesystem::exists(out / "x.json"));
}

TEST_F(ReplayProgram, LeavesNoTraceOfARunWhoseInputWasBad) {
  const test::TemporaryFolder out;
  const std::string arguments =
      " replay " + trace_ + " --policy window:recent=4 -o " + (out / "run.db");
  ASSERT_EQ(run_shell("$K" + arguments).status, 0);
  std::fstream file(trace_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-4, std::ios::end);
  file.write("\0\0\x80\x7f", 4);  // the last weight becomes infinite
  file.close();

  EXPECT_EQ(run_shell("$K" + arguments).status, 2);
  EXPECT_EQ(reports::list_runs(out / "run.db").value().size(), 1U) << "the good run alone";
  std::filesystem::remove(out / "run.db");
  EXPECT_THAT(run_shell("$K" + arguments).err, HasSubstr("query 31"));
  EXPECT_THAT(out.names(), testing::IsEmpty());
}

TEST_F(ReplayProgram, KeepsWhatItDidBeforeABadTrace) {
  const test::TemporaryFolder out;
  const std::string bad = folder_ / "bad.npy";
  test::write_even_attention(bad, 1, 16);
  std::fstream file(bad, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-4, std::ios::end);
  file.write("\0\0\x80\x7f", 4);
  file.close();
  const Ran ran = run_shell("$K replay " + trace_ + " " + bad + " --policy window:recent=4 -o " +
                            (out / "run.db"));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("; '" + (out / "run.db") + "' holds what was done before as an"));
  const reports::StoredRun run = reports::read_run(out / "run.db").value();
  EXPECT_EQ(run.traces.size(), 1U);
  EXPECT_FALSE(run.summary.complete);
}

TEST_F(ReplayProgram, EndsInGoodOrderWhenMemoryRunsOut) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space than this leaves";
#endif
  test::write_even_attention(trace_, 2, 1024);
  const test::TemporaryFolder out;
  const Ran ran =
      run_shell("ulimit -v 160000; $K replay " + trace_ +
                " --policy reservoir --budget 64 --seeds 4096 --memory 64G --threads 2 -o " +
                (out / "run.db"));
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.err, "kvcheck replay: out of memory\n");
  EXPECT_THAT(out.names(), testing::IsEmpty());
}

TEST_F(ReplayProgram, SaysThatAFileHasReachedItsSizeLimit) {
  const test::TemporaryFolder out;
  const Ran ran = run_shell("ulimit -f 8; $K replay " + trace_ +
                            " --policy window:recent=4 --seeds 1 -o " + (out / "run.db"));
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_THAT(out.names(), testing::IsEmpty());
}

TEST_F(ReplayProgram, ReportsTheNewestRunThatHoldsATrace) {
  const test::TemporaryFolder out;
  const std::string results = out / "run.db";
  { ASSERT_TRUE(reports::ResultsWriter::begin(results, "stopped at once")); }
  const Ran empty = run_shell("$K report " + results + " -o " + (out / "report"));
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(run_shell("$K report " + results + " --list").out,
              HasSubstr("run 1, incomplete, 0 cells, "));
  EXPECT_THAT(empty.err, HasSubstr("holds no results: it was stopped"));
  EXPECT_THAT(out.names(), ElementsAre("run.db"));
  ASSERT_EQ(run_shell("$K replay " + trace_ + " --policy window:recent=4 -o " + results).status, 0);
  { ASSERT_TRUE(reports::ResultsWriter::begin(results, "stopped at once")); }
  EXPECT_EQ(reports::read_run(results).value().summary.id, 2);
}

}  // namespace
}  // namespace kv
