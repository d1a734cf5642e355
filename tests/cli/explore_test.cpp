#include "kvcheck/cli/report/explore.h"

#include <filesystem>
#include <fstream>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv::cli {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::taken;

class Explore : public ::testing::Test {
 protected:
  [[nodiscard]] Ran kvcheck(const std::string& verb, std::vector<std::string> words) const {
    words.insert(words.begin(), verb);
    return test::run(words);
  }

  // A results file with the replay of a dump of even attention.
  void replay() const {
    test::write_even_attention(trace_, 2, 24);
    const Ran ran = kvcheck("replay", {trace_, "--policy", "h2o", "--policy", "window", "--budget",
                                       "8", "--quiet", "-o", db_});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  // `words` beside the results file and the output are refused with one sentence, and nothing is
  // written.
  void expect_refused(const std::vector<std::string>& words, const std::string& sentence) const {
    std::vector<std::string> all = {db_, "-o", page_};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = kvcheck("explore", all);
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr(sentence));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(page_));
  }

  test::TemporaryFolder folder_;
  std::string db_ = folder_ / "run.db";
  std::string page_ = folder_ / "page.html";
  std::string trace_ = folder_ / "rows.npy";
};

TEST_F(Explore, WritesThePageOfTheNewestReplay) {
  replay();
  const Ran ran = kvcheck("explore", {db_, "-o", page_});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "Page: " + page_ + "\n");
  EXPECT_THAT(test::read_text(page_), HasSubstr("<title>kvcheck explore: kvcheck replay"));
}

TEST_F(Explore, RefusesARunThatRecordedNoResidency) {
  auto writer = taken(reports::ResultsWriter::begin(db_, "kvcheck eval"));
  ASSERT_TRUE(writer.add(testing::fake_evaluation(512, true)));
  ASSERT_TRUE(writer.finish());
  expect_refused({},
                 "run 1 holds no trace with recorded residency; expected a run of kvcheck replay");
}

TEST_F(Explore, RefusesATraceThatWasNotReplayed) {
  replay();
  const std::string other = folder_ / "other.npy";
  test::write_even_attention(other, 2, 25);
  expect_refused({"--trace", other}, "which run 1 did not replay; expected a trace of the run");
  expect_refused({"--trace", folder_ / "none.npy"}, "none.npy'");
}

TEST_F(Explore, RefusesAResultsFileOfAnotherVersion) {
  replay();
  {
    // The schema version is at byte 60 of the header of SQLite, with its highest byte first.
    std::fstream file(db_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(60);
    file.write("\0\0\0\x63", 4);
  }
  expect_refused({}, "schema version 99");
}

TEST_F(Explore, RefusesAFolderThatDoesNotExist) {
  replay();
  const Ran ran = kvcheck("explore", {db_, "-o", folder_ / "none/page.html"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("none/page.html"), HasSubstr("No such file or directory")));
  EXPECT_EQ(kvcheck("explore", {db_}).status, 2);
  EXPECT_EQ(kvcheck("explore", {db_, "-o", folder_ / ""}).status, 2);
  EXPECT_EQ(kvcheck("explore", {folder_ / "none.db", "-o", page_}).status, 2);
  EXPECT_EQ(kvcheck("explore", {db_, "--run", "2", "-o", page_}).status, 2);
}

}  // namespace
}  // namespace kv::cli
