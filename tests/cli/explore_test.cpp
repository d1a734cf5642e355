#include "kvcheck/cli/report/explore.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/sql.h"

namespace kv::cli {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;

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

  // Changes the results file.
  void execute(const char* sql) const { test::run_sql(db_, sql); }

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

TEST_F(Explore, NamesItsPageAfterTheResults) {
  replay();
  const Ran ran = test::run_shell("cd '" + (folder_ / "") + "' && $K explore ./run.db");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "Page: run.html\n");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "run.html"));
}

// The file is right; what is missing is the user's own policy.
TEST_F(Explore, AsksForThePolicyThatIsNotKnown) {
  replay();
  execute("UPDATE cells SET spec = replace(spec, 'h2o:', 'largest-mass:')");
  expect_refused({},
                 "has results of the policy 'largest-mass', which is not known here; name the "
                 "file that defines it with --load FILE before the command");
  execute("UPDATE cells SET spec = replace(spec, 'largest-mass:', 'Largest Mass:')");
  expect_refused({}, "is damaged: column cells.spec");
}

TEST_F(Explore, WritesThePageOfTheNewestReplay) {
  replay();
  const Ran ran = kvcheck("explore", {db_, "-o", page_});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "Page: " + page_ + "\n");
  EXPECT_THAT(test::read_text(page_), HasSubstr("<title>kvcheck explore: kvcheck replay"));
}

TEST_F(Explore, WritesThePageToStandardOutput) {
  replay();
  const Ran ran = kvcheck("explore", {db_, "-o", "-"});
  EXPECT_EQ(ran.err, "Page: -\n");
  EXPECT_THAT(ran.out, ::testing::AllOf(::testing::StartsWith("<!DOCTYPE html>"),
                                        ::testing::EndsWith("</html>\n")));
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_F(Explore, RefusesARunThatRecordedNoResidency) {
  replay();
  execute("DELETE FROM residency");
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

TEST_F(Explore, TakesStepsOfOneCacheOrAllFromTheTrace) {
  const std::string stream = "synthetic:zipf:tokens=64,heads=3";
  const Ran replayed =
      kvcheck("replay", {stream, "--policy", "tova", "--budget", "8", "--quiet", "-o", db_});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  ASSERT_EQ(kvcheck("explore", {db_, "-o", page_}).status, 0);
  std::vector<std::size_t> sizes = {test::read_text(page_).size()};
  for (const char* const unit : {"0/1", "all"}) {
    const Ran ran = kvcheck("explore", {db_, "--trace", stream, "--unit", unit, "-o", page_});
    ASSERT_EQ(ran.status, 0) << ran.err;
    sizes.push_back(test::read_text(page_).size());
    EXPECT_GT(sizes.back(), sizes[sizes.size() - 2] + 500) << unit;
  }
}

TEST_F(Explore, TakesStepsOfOneSeedOrAll) {
  const std::string stream = "synthetic:zipf:tokens=64,heads=1";
  const Ran replayed = kvcheck("replay", {stream, "--policy", "random", "--policy", "tova",
                                          "--budget", "8", "--seeds", "3", "--quiet", "-o", db_});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  std::vector<std::size_t> sizes;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"--trace", stream, "--seed", "2"}, {"--trace", stream}}) {
    std::vector<std::string> line = {db_, "-o", page_};
    line.insert(line.end(), words.begin(), words.end());
    const Ran ran = kvcheck("explore", line);
    ASSERT_EQ(ran.status, 0) << ran.err;
    sizes.push_back(test::read_text(page_).size());
  }
  // Steps of random and tova, and then of random with two more seeds.
  EXPECT_GT(sizes[1], sizes[0] + 1000);
  EXPECT_GT(sizes[2], sizes[1] + 1000);
  std::filesystem::remove(page_);
  expect_refused({"--trace", stream, "--seed", "4"},
                 "has no recorded residency; expected one of 1, 2, 3");
  expect_refused({"--trace", stream, "--seed", "x"}, "--seed");
  expect_refused({"--seed", "1"}, "--seed needs a trace to replay");
}

TEST_F(Explore, RefusesCachesThatAreNotThere) {
  replay();
  expect_refused({"--trace", trace_, "--unit", "3/0"},
                 "--unit names layer 3, head 0, of which 'rows.npy' has no recorded residency; "
                 "expected the first head of a cache that has, such as 0/1");
  expect_refused({"--trace", trace_, "--unit", "3"}, "--unit is '3'; expected all, or a layer");
  expect_refused({"--trace", trace_, "--unit", "0/x"}, "--unit is '0/x'; expected all");
  expect_refused({"--unit", "all"}, "--unit needs a trace to replay");
}

TEST_F(Explore, RefusesStepsThatAreNotThoseOfTheRun) {
  replay();
  // The residency of one policy under the name of the other.
  execute(
      "UPDATE residency SET evicted_at = (SELECT evicted_at FROM residency ORDER BY cell DESC)");
  expect_refused({"--trace", trace_},
                 "evicts other tokens in layer 0, head 0 than the run recorded");
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
  EXPECT_EQ(kvcheck("explore", {db_, "-o", folder_ / ""}).status, 2);
  EXPECT_EQ(kvcheck("explore", {folder_ / "none.db", "-o", page_}).status, 2);
  EXPECT_EQ(kvcheck("explore", {db_, "--run", "2", "-o", page_}).status, 2);
}

}  // namespace
}  // namespace kv::cli
