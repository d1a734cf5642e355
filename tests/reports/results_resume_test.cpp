// A results file that continues its unfinished run becomes the file of an uninterrupted one.
#include <filesystem>
#include <fstream>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/reports/store/sqlite.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::reports {
namespace {

using test::read_text;
using ::testing::HasSubstr;

std::vector<ReplayResult> results() {
  std::vector<ReplayResult> all(3, testing::fake_replay(testing::small_fake()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].trace.name = "trace " + std::to_string(i);
    all[i].trace.checksum = 100 + i;
  }
  return all;
}

// Adds the first `count` results, and finishes the run if that is all of them.
void write(ResultsWriter& writer, std::size_t count) {
  const std::vector<ReplayResult> all = results();
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(writer.add(all[i])) << i;
  if (count < all.size()) return;
  ASSERT_TRUE(writer.finish());
}

class ResumedResults : public ::testing::Test {
 protected:
  void write_clean(const std::string& path) {
    auto writer = ResultsWriter::begin(path, "command");
    ASSERT_TRUE(writer);
    EXPECT_FALSE(writer->resumed());
    write(*writer, 3);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
};

TEST_F(ResumedResults, HaveTheBytesOfAnUninterruptedRunWhereverItEnded) {
  write_clean(folder_ / "clean.db");
  for (std::size_t first = 0; first < 3; ++first) {
    for (std::size_t second = first; second < 3; ++second) {
      std::filesystem::remove(path_);
      {
        auto writer = ResultsWriter::begin(path_, "command");
        write(*writer, first);
      }
      for (const std::size_t count : {second, std::size_t{3}}) {
        auto writer = ResultsWriter::resume(path_, "command");
        ASSERT_TRUE(writer);
        EXPECT_TRUE(writer->resumed());
        write(*writer, count);
      }
      EXPECT_TRUE(read_text(path_) == read_text(folder_ / "clean.db")) << first << " " << second;
    }
  }
}

TEST_F(ResumedResults, AreNotChangedByARunThatIsLeft) {
  ResultsWriter::begin(path_, "left at once")->leave();
  EXPECT_FALSE(std::filesystem::exists(path_)) << "it created the file";
  for (const std::string& path : {folder_ / "clean.db", path_}) {
    write_clean(path);
    if (path == path_) ResultsWriter::begin(path, "second")->leave();
    auto writer = ResultsWriter::resume(path, "second");
    EXPECT_EQ(writer->resumed(), path == path_);
    write(*writer, 3);
  }
  EXPECT_TRUE(read_text(path_) == read_text(folder_ / "clean.db"));
}

TEST_F(ResumedResults, BeginARunIfThereIsNoneToContinue) {
  write_clean(folder_ / "clean.db");
  {
    auto writer = ResultsWriter::resume(path_, "command");
    EXPECT_FALSE(writer->resumed());
    write(*writer, 3);
  }
  EXPECT_TRUE(read_text(path_) == read_text(folder_ / "clean.db"));
  EXPECT_FALSE(ResultsWriter::resume(path_, "command")->resumed()) << "that run is complete";
  EXPECT_TRUE(ResultsWriter::resume(path_, "command")->resumed());
  EXPECT_FALSE(ResultsWriter::resume(path_, "another")->resumed());
}

TEST_F(ResumedResults, RefuseOtherInputsInThePlaceOfThoseThatTheyHold) {
  {
    auto writer = ResultsWriter::begin(path_, "command");
    write(*writer, 2);
  }
  auto writer = ResultsWriter::resume(path_, "command");
  std::vector<ReplayResult> all = results();
  ASSERT_TRUE(writer->add(all[0]));
  all[1].trace.checksum = 7;
  const Result<void> refused = writer->add(all[1]);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("holds 'trace 1' with the checksum 0000000000000065, expected 'trace 1' "
                        "with 0000000000000007"));
}

// A process that is killed while it creates the tables leaves pages in the file, and a journal by
// which the next reader removes them.
TEST_F(ResumedResults, AreWrittenWhereTheCreationOfAFileWasCutShort) {
  const std::string open = folder_ / "open.db";
  std::ofstream(open).flush();
  {
    auto database = Database::open(open);
    ASSERT_TRUE(
        database->execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN;"
                          "CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000));"
                          "CREATE TABLE u (a); INSERT INTO u VALUES (zeroblob(100000));"));
    std::filesystem::copy_file(open, path_);
    std::filesystem::copy_file(open + "-journal", path_ + "-journal");
  }
  ASSERT_GT(std::filesystem::file_size(path_), 0U);
  write_clean(folder_ / "clean.db");
  write_clean(path_);
  EXPECT_TRUE(read_text(path_) == read_text(folder_ / "clean.db"));
}

}  // namespace
}  // namespace kv::reports
