#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "kvcheck/base/file.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/tables/export.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/sql.h"

namespace kv::reports {
namespace {

using testing::fake_replay;
using testing::read_text;
using testing::small_fake;
using testing::taken;
using testing::TemporaryFolder;

class ResultsErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    auto writer = taken(ResultsWriter::begin(good_, "kvcheck replay"));
    ASSERT_TRUE(writer.add(fake_replay(small_fake())));
    ASSERT_TRUE(writer.finish());
  }

  // Changes the good file by hand.
  void tamper(const std::string& sql) { test::run_sql(good_, sql); }

  // What both doors say about a file that neither may change.
  void expect_refused(const std::string& path, const std::string& message) {
    const std::string before = read_text(path);
    EXPECT_EQ(list_runs(path).error().message, message);
    EXPECT_EQ(read_run(path).error().message, message);
    EXPECT_EQ(ResultsWriter::begin(path, "x").error().message, message);
    EXPECT_EQ(read_text(path), before);
  }

  TemporaryFolder folder_;
  std::string good_ = folder_.path("good.db");
};

TEST_F(ResultsErrors, RefusesATextFile) {
  for (const std::string& text : {std::string("hello\n"), std::string(5000, 'x')}) {
    const std::string path = folder_.path("notes.txt");
    ASSERT_TRUE(write_file(path, text));
    expect_refused(path, "'" + path + "' is not a kvcheck results file");
  }
}

TEST_F(ResultsErrors, RefusesAnotherProgramsDatabase) {
  tamper("PRAGMA application_id=5");
  expect_refused(good_, "'" + good_ + "' is not a kvcheck results file");
}

TEST_F(ResultsErrors, RefusesAnotherSchemaVersion) {
  tamper("PRAGMA user_version=14");
  expect_refused(good_, "'" + good_ + "' has schema version 14; this kvcheck reads 4 to 13");
}

// Later versions only add to version 4, so its files are read, and upgraded when a run is added.
TEST_F(ResultsErrors, ReadsAndUpgradesAFileOfVersion4) {
  const std::string before = json_lines(taken(read_run(good_)).traces[0], true);
  tamper(
      "DROP VIEW heads_after; DROP TABLE first_losses; DROP TABLE marks; DROP TABLE eval_marks; "
      "DROP TABLE summaries; DROP TABLE sweeps; DROP TABLE task_answers; "
      "DROP TABLE task_cells; DROP TABLE task_items; DROP TABLE tasks; "
      "DROP TABLE sampled_traces; DROP TABLE recorded_kv_heads; DROP TABLE sampled_cells; "
      "DROP TABLE sampled_heads; DROP TABLE timing_threads; DROP TABLE timed_repetitions; "
      "DROP TABLE timed_details; DROP TABLE eval_after; DROP TABLE eval_open_loop; DROP TABLE "
      "eval_inputs; "
      "DROP TABLE task_inputs; DROP TABLE task_item_texts; "
      "PRAGMA user_version=4");
  EXPECT_EQ(json_lines(taken(read_run(good_)).traces[0], true), before);
  {
    auto writer = taken(ResultsWriter::begin(good_, "again"));
    ASSERT_TRUE(writer.add(testing::fake_replay(testing::small_fake())));
    ASSERT_TRUE(writer.finish());
  }
  EXPECT_EQ(json_lines(taken(read_run(good_, 1)).traces[0], true), before);
  EXPECT_EQ(taken(list_runs(good_)).size(), 2U);
  tamper("PRAGMA user_version=4");
  expect_refused(good_, "'" + good_ + "' does not have the tables of schema version 4");
}

TEST_F(ResultsErrors, RefusesForeignTablesViewsAndTriggers) {
  tamper("ALTER TABLE heads RENAME TO h; CREATE VIEW heads AS SELECT * FROM h");
  expect_refused(good_, "'" + good_ + "' does not have the tables of schema version 13");
}

TEST_F(ResultsErrors, AFileThatIsRemovedWhileItIsWrittenIsNamed) {
  auto writer = taken(ResultsWriter::begin(good_, "again"));
  std::filesystem::remove(good_);
  const auto added = writer.add(testing::fake_replay(testing::small_fake()));
  ASSERT_FALSE(added && writer.finish());
  if (added) return;
  EXPECT_NE(added.error().message.find("it was removed or replaced while it was open"),
            std::string::npos)
      << added.error().message;
}

TEST_F(ResultsErrors, RefusesATruncatedFile) {
  ASSERT_EQ(::truncate(good_.c_str(), 12288), 0);
  const std::string message = read_run(good_).error().message;
  EXPECT_TRUE(message.starts_with("'" + good_ + "' is damaged: ")) << message;
  expect_refused(good_, message);
}

TEST_F(ResultsErrors, RefusesDamagedPagesWithoutChangingThem) {
  std::string bytes = read_text(good_);
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  ASSERT_TRUE(write_file(good_, bytes));
  EXPECT_NE(read_run(good_).error().message.find("is damaged"), std::string::npos);
  EXPECT_NE(ResultsWriter::begin(good_, "x").error().message.find("is damaged"), std::string::npos);
  EXPECT_EQ(read_text(good_), bytes);
}

TEST_F(ResultsErrors, NamesTheColumnThatCannotBeRight) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"UPDATE traces SET map_side = 4294967296", "traces.map_mass"},
      {"UPDATE traces SET map_mass = x'00'", "traces.map_mass"},
      {"UPDATE traces SET layers = '0,x'", "traces.layers"},
      {"UPDATE traces SET checksum = 'abc'", "traces.checksum"},
      {"UPDATE traces SET kind = 'other'", "traces.kind"},
      {"UPDATE traces SET tokens = -1", "traces.tokens"},
      {"UPDATE cells SET kept = x'0000'", "cells.kept"},
      {"UPDATE cells SET lifetimes = x'0000000000000000'", "cells.lifetimes"},
      {"UPDATE cells SET seed = '-3'", "cells.seed"},
      {"UPDATE cells SET spec = 'h2o:nonsense=1'", "cells.spec"},
      {"UPDATE residency SET evicted_at = x'00000000'", "residency.evicted_at"},
  };
  const std::string bytes = read_text(good_);
  for (const auto& [sql, column] : cases) {
    ASSERT_TRUE(write_file(good_, bytes));
    tamper(sql);
    const auto run = read_run(good_);
    ASSERT_FALSE(run) << sql;
    EXPECT_EQ(run.error().message, "'" + good_ + "' is damaged: column " + column +
                                       " does not hold what kvcheck writes there");
  }
}

TEST_F(ResultsErrors, ShowsADamagedDeclarationInOneLine) {
  tamper(
      "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE \"a' || "
      "char(10) || 'run 9, complete' WHERE name = 'runs'");
  const std::string message = list_runs(good_).error().message;
  EXPECT_NE(message.find("is damaged"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(message.find("\\x0arun 9, complete"), std::string::npos) << message;
}

// SQLite keeps a value of another type than its column's, and reads a text as the number 0.
TEST_F(ResultsErrors, NamesTheColumnThatHoldsAnotherType) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"UPDATE heads SET retained_mass = 'none'", "retained_mass"},
      {"UPDATE heads SET layer = 0.5", "layer"},
      {"UPDATE units SET stored_mean = x'00'", "stored_mean"},
      {"UPDATE series SET first_step = '3x'", "first_step"},
      {"UPDATE traces SET top_k = 'x'", "top_k"},
      {"UPDATE traces SET name = x'41'", "name"},
      {"UPDATE cells SET kept = ''", "kept"},
      {"UPDATE runs SET command = x'41'", "command"},
  };
  const std::string bytes = read_text(good_);
  for (const auto& [sql, column] : cases) {
    ASSERT_TRUE(write_file(good_, bytes));
    tamper(sql);
    const auto run = read_run(good_);
    ASSERT_FALSE(run) << sql;
    EXPECT_EQ(run.error().message, "'" + good_ + "' is damaged: column " + column +
                                       " does not hold what kvcheck writes there");
  }
}

TEST_F(ResultsErrors, SaysWhatIsInTheWay) {
  const std::string folder = folder_.path("");
  EXPECT_EQ(read_run(folder).error().message, "cannot read '" + folder + "': it is a directory");
  EXPECT_EQ(ResultsWriter::begin(folder, "x").error().message,
            "cannot write '" + folder + "': it is a directory");
  const std::string absent = folder_.path("no/run.db");
  EXPECT_EQ(read_run(absent).error().kind, Error::Kind::not_found);
  EXPECT_EQ(ResultsWriter::begin(absent, "x").error().message,
            "cannot write '" + absent + "': No such file or directory");
  const std::string pipe = folder_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(ResultsWriter::begin(pipe, "x").error().message,
            "cannot write '" + pipe + "': it is not a regular file");
}

TEST_F(ResultsErrors, TakesAnEmptyFileForWritingOnly) {
  const std::string path = folder_.path("empty.db");
  ASSERT_TRUE(write_file(path, ""));
  EXPECT_EQ(read_run(path).error().message,
            "'" + path + "' is empty; expected a kvcheck results file");
  EXPECT_TRUE(ResultsWriter::begin(path, "x"));
  EXPECT_EQ(taken(list_runs(path)).size(), 1U);
}

TEST_F(ResultsErrors, LetsOneWriterInAtATime) {
  const auto first = ResultsWriter::begin(good_, "first");
  ASSERT_TRUE(first);
  const Error error = ResultsWriter::begin(good_, "second").error();
  EXPECT_EQ(error.kind, Error::Kind::busy);
  EXPECT_EQ(error.message,
            "'" + good_ +
                "' is being written by another run, of this process or of another; wait "
                "for it to end, or write to another file");
  EXPECT_EQ(taken(list_runs(good_)).size(), 2U);
}

// Runs `work` in a child process and gives back its wait status.
template <typename Work>
int in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(ResultsErrors, SurvivesAWriterKilledInsideATransaction) {
  const int status = in_child([this] {
    auto writer = taken(ResultsWriter::begin(good_, "killed"));
    if (!writer.add(fake_replay(small_fake()))) ::_exit(1);
    // A second connection stands for a writer that has already spilled pages into the file.
    sqlite3* handle = nullptr;
    sqlite3_open(good_.c_str(), &handle);
    sqlite3_exec(handle,
                 "PRAGMA cache_size=1; BEGIN; UPDATE heads SET layer = 99;"
                 "UPDATE series SET kept = 99; UPDATE units SET trims = 99",
                 nullptr, nullptr, nullptr);
    ::kill(::getpid(), SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(std::filesystem::exists(good_ + "-journal"));
  const StoredRun run = taken(read_run(good_, 2));
  EXPECT_FALSE(run.summary.complete);
  ASSERT_EQ(run.traces.size(), 1U);
  EXPECT_EQ(run.traces[0].cells.back().heads.back().layer, 1U);
  EXPECT_TRUE(taken(read_run(good_, 1)).summary.complete);
  EXPECT_TRUE(ResultsWriter::begin(good_, "the lock went with the process"));
}

TEST_F(ResultsErrors, KeepsWhatWasThereWhenTheDiskIsFull) {
  const auto size = std::filesystem::file_size(good_);
  const int status = in_child([this, size] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = size + 8192, .rlim_max = size + 8192};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto writer = taken(ResultsWriter::begin(good_, "too big"));
    const auto added = writer.add(fake_replay(small_fake()));
    ::_exit(!added &&
                    added.error().message == "cannot read or write '" + good_ + "': disk I/O error"
                ? 0
                : 2);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(taken(read_run(good_, 1)).summary.complete);
  EXPECT_EQ(taken(read_run(good_, 2)).traces.size(), 0U);
}

TEST_F(ResultsErrors, LeavesNoFileBehindThatItCouldNotBegin) {
  const std::string path = folder_.path("new.db");
  const int status = in_child([&path] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(ResultsWriter::begin(path, "x") ? 1 : 0);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace kv::reports
