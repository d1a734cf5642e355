// What two results files have to have in common for kvcheck compare.
#include "kvcheck/cli/report/compare.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/reports/fake_results.h"
#include "kvcheck/tests/reports/sql.h"

namespace kv::cli {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CompareFiles : public ::testing::Test {
 protected:
  void replay(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"replay",      "synthetic:zipf:tokens=64",
                                      "--policy",    "h2o",
                                      "--budget",    "16",
                                      "--quiet",     "-o",
                                      folder_ / name};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = test::run(words);
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  void evaluate(const std::string& name, std::size_t window) const {
    ClosedLoopResult result = testing::fake_evaluation(512, true);
    result.window = window;
    auto writer = reports::ResultsWriter::begin(folder_ / name, "kvcheck eval");
    ASSERT_TRUE(writer && writer->add(result) && writer->finish());
  }

  [[nodiscard]] Ran compare(const std::string& before,
                            const std::string& after,
                            const std::string& measure) const {
    return test::run({"compare", folder_ / before, folder_ / after, "--measure", measure});
  }

  test::TemporaryFolder folder_;
};

TEST_F(CompareFiles, ATextInWindowsOfAnotherSizeIsAnotherText) {
  evaluate("170.db", 170);
  evaluate("230.db", 230);
  evaluate("both.db", 170);
  evaluate("both.db", 230);
  const Ran other = compare("170.db", "230.db", "loss");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("have no text and spec in common"));
  for (const auto& [before, after] : {std::pair{"both.db", "230.db"}, {"230.db", "both.db"}}) {
    const Ran both = compare(before, after, "loss");
    EXPECT_EQ(both.status, 2) << both.out;
    EXPECT_THAT(both.err,
                AllOf(HasSubstr("both.db has evaluations of texts in windows of 170, 230"),
                      HasSubstr("expected --window with one of these")));
  }
  EXPECT_EQ(test::run({"compare", folder_ / "both.db", folder_ / "230.db", "--measure", "loss",
                       "--window", "230"})
                .status,
            0);
}

TEST_F(CompareFiles, OverlapsOfOtherKeysAreOtherNumbers) {
  replay("16.db");
  replay("4.db", {"--top-k", "4"});
  EXPECT_EQ(compare("16.db", "4.db", "topk_overlap").status, 2);
  const Ran mass = compare("16.db", "4.db", "retained_mass");
  EXPECT_EQ(mass.status, 0) << mass.err;
  EXPECT_THAT(mass.err, AllOf(HasSubstr("Note: The files were made by other commands; only the "
                                        "first has: kvcheck replay synthetic:zipf:tokens=64"),
                              HasSubstr("--top-k 4.\n")));
}

// Where results are written is no setting.
TEST_F(CompareFiles, TheSameCommandIsNotNoted) {
  replay("a.db", {"--threads", "1"});
  replay("b.db", {"--json", folder_ / "lines.jsonl"});
  const Ran ran = compare("a.db", "b.db", "retained_mass");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(CompareFiles, ANewestRunThatDidNotFinishIsNamed) {
  replay("a.db");
  replay("b.db");
  replay("b.db");
  test::run_sql(folder_ / "b.db", "UPDATE runs SET status = 'running' WHERE id = 2");
  const Ran ran = compare("a.db", "b.db", "retained_mass");
  EXPECT_EQ(ran.status, 3) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("is its newest, did not finish, and does not count"));
  const Ran first = compare("b.db", "a.db", "retained_mass");
  EXPECT_EQ(first.status, 0);
  EXPECT_THAT(first.err, HasSubstr("Note: Run 2 of '"));
  const Ran itself = compare("b.db", "b.db", "retained_mass");
  EXPECT_EQ(itself.status, 0);
  EXPECT_EQ(std::ranges::count(itself.err, '\n'), 1) << itself.err;
  // What is lost is said beside what is worse, too.
  test::run_sql(folder_ / "b.db", "UPDATE heads SET retained_mass = 0.01");
  const Ran worse = compare("a.db", "b.db", "retained_mass");
  EXPECT_EQ(worse.status, 1);
  EXPECT_THAT(worse.err, HasSubstr("is its newest, did not finish"));
}

TEST_F(CompareFiles, ACacheThatBeginsToStoreMoreIsWorse) {
  replay("a.db");
  replay("b.db");
  ASSERT_EQ(test::run_sql(folder_ / "b.db", "SELECT 1 FROM units LIMIT 1"), 1U);
  test::run_sql(folder_ / "b.db",
                "UPDATE units SET stored_peak = 64; UPDATE heads SET retained_mass = 1");
  const Ran worse = compare("a.db", "b.db", "retained_mass");
  EXPECT_EQ(worse.status, 1) << worse.out;
  EXPECT_THAT(worse.err,
              HasSubstr("kvcheck compare: worse: 1 spec is above the budget in the second file"));
  EXPECT_THAT(
      worse.out,
      HasSubstr("1 spec is above the budget in the second file only, on some text: h2o at 16"));
  EXPECT_THAT(
      compare("b.db", "a.db", "retained_mass").out,
      HasSubstr("1 spec is above the budget in the first file only, on some text: h2o at 16"));
}

// Its storage depends on the text.
TEST_F(CompareFiles, AMeasurementThatWasAddedIsNoGrowth) {
  const auto replayed = [&](const std::string& name, const std::string& heads,
                            const std::vector<std::string>& policies) {
    std::vector<std::string> words = {"replay", "synthetic:zipf:tokens=200,heads=" + heads,
                                      "--quiet", "-o", folder_ / name};
    for (const std::string& policy : policies) words.insert(words.end(), {"--policy", policy});
    ASSERT_EQ(test::run(words).status, 0);
  };
  const std::vector<std::string> both = {"@ada-h2o:budget=64", "window:budget=64"};
  replayed("a.db", "1", both);
  replayed("a.db", "4", {"window:budget=64"});
  replayed("b.db", "1", both);
  replayed("b.db", "4", both);
  const Ran ran = compare("a.db", "b.db", "retained_mass");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("above the budget")));
  // One text that always stored more hides no other.
  test::run_sql(folder_ / "b.db", "UPDATE units SET stored_peak = 190 WHERE cell = 1");
  replayed("a.db", "4", both);
  EXPECT_EQ(compare("a.db", "b.db", "retained_mass").status, 1);
}

TEST_F(CompareFiles, LostSeedsAreNamed) {
  const std::vector<std::string> random = {"--policy", "random", "--seeds"};
  const auto with = [&](const std::string& seeds) {
    std::vector<std::string> words = random;
    words.push_back(seeds);
    return words;
  };
  replay("five.db", with("5"));
  replay("one.db", with("1"));
  replay("four.db", with("4"));
  const Ran some = compare("five.db", "one.db", "retained_mass");
  EXPECT_EQ(some.status, 3);
  EXPECT_THAT(some.err, HasSubstr("1 spec is without seeds of the first file in the second: random "
                                  "at 16 (seeds 2, 3, 4, ...)"));
  EXPECT_THAT(compare("five.db", "four.db", "retained_mass").err, HasSubstr("at 16 (seed 5)"));
  const Ran more = compare("one.db", "five.db", "retained_mass");
  EXPECT_EQ(more.status, 0);
  EXPECT_THAT(more.out, AllOf(HasSubstr("1 spec is measured with more seeds in the second file"),
                              Not(HasSubstr("without"))));
}

}  // namespace
}  // namespace kv::cli
