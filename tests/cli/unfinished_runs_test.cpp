// What report, plot and explore say of runs that did not finish.
#include "kvcheck/reports/page/report.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_replay.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv {
namespace {

using test::Ran;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::taken;

// A results file with a replay that was finished.
class UnfinishedRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(replay({"dense", "window", "h2o:sinks=4", "tova"}).finish());
  }

  // Stopped before its end, unless finish() is called.
  [[nodiscard]] reports::ResultsWriter replay(const std::vector<std::string>& specs) const {
    testing::FakeReplay fake = testing::small_fake();
    fake.specs = specs;
    auto writer = taken(reports::ResultsWriter::begin(db_, "kvcheck replay"));
    EXPECT_TRUE(writer.add(testing::fake_replay(fake)));
    return writer;
  }

  [[nodiscard]] Ran plot(std::vector<std::string> words) const {
    words.insert(words.begin(), {"plot", "budget", db_});
    return test::run(words);
  }

  test::TemporaryFolder folder_;
  std::string db_ = folder_ / "run.db";
};

// A run that was stopped may lack the policy that would be the best.
TEST_F(UnfinishedRuns, AreShownOnlyIfTheyAreAskedFor) {
  const std::string figure = folder_ / "budget.svg";
  const std::string page = folder_ / "page.html";
  const Ran whole = plot({"-o", figure});
  EXPECT_THAT(whole.out + whole.err, Not(HasSubstr("did not finish")));
  static_cast<void>(replay({"window"}));
  const std::string newer = "Note: run 2 is newer and did not finish; --run 2 shows what it has.\n";
  EXPECT_EQ(plot({"-o", figure}).err, newer);
  EXPECT_EQ(plot({"-o", figure}).out, whole.out);
  EXPECT_EQ(test::run({"report", db_, "-o", folder_ / "report"}).err, newer);
  EXPECT_EQ(test::run({"explore", db_, "-o", page}).err, newer);
  const std::string note = "Note: run 2 did not finish; what it lacks is not shown.\n";
  const Ran part = plot({"--run", "2", "-o", figure});
  EXPECT_EQ(part.err, note);
  EXPECT_THAT(part.out, HasSubstr("The run did not finish; what it lacks is not shown."));
  EXPECT_EQ(test::run({"report", db_, "--run", "2", "-o", folder_ / "report"}).err, note);
  EXPECT_EQ(test::run({"explore", db_, "--run", "2", "-o", page}).err, note);
}

// Before what it found: the best of an unfinished run may be the best of what it had reached.
TEST_F(UnfinishedRuns, AreNamedAboveTheFindings) {
  static_cast<void>(replay({"window"}));
  const auto page = [&] { return test::read_text(folder_ / "report/index.html"); };
  const auto newest = reports::write_report(db_, 0, folder_ / "report");
  ASSERT_TRUE(newest);
  ASSERT_EQ(newest->size(), 1U);
  EXPECT_EQ(newest->front().id, 1);
  EXPECT_THAT(page(), Not(HasSubstr("did not finish")));
  ASSERT_TRUE(reports::write_report(db_, 2, folder_ / "report"));
  EXPECT_THAT(page(), HasSubstr("</h1>\n<p class=\"note\">Run 2 did not finish."));
}

}  // namespace
}  // namespace kv
