// What kvcheck plot says of policies that a figure leaves out, and where it writes.
#include <filesystem>

#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_replay.h"

namespace kv::cli {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::taken;

class PlotOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::FakeReplay fake = testing::small_fake();
    fake.specs = {"dense", "window", "h2o:sinks=4", "tova"};
    auto writer = taken(reports::ResultsWriter::begin(db_, "kvcheck replay"));
    ASSERT_TRUE(writer.add(testing::fake_replay(fake)));
    ASSERT_TRUE(writer.finish());
  }

  [[nodiscard]] static Ran plot(std::vector<std::string> words) {
    words.insert(words.begin(), "plot");
    return test::run(words);
  }

  test::TemporaryFolder folder_;
  std::string db_ = folder_ / "run.db";
};

TEST_F(PlotOutput, SaysIfTheFigureShowsNoneOfThePolicies) {
  // A window's residents are known without a figure.
  const Ran ran = plot({"inclusion", db_, "--policies", "window", "-o", folder_ / "x.pdf"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("'inclusion' shows none of the policies that --policies names"));
}

TEST_F(PlotOutput, NamesThePoliciesThatAFigureLeavesOut) {
  const auto caption = [&](const std::string& figure) {
    return plot(
               {figure, db_, "--policies", "window", "--policies", "tova", "-o", folder_ / "x.svg"})
        .out;
  };
  EXPECT_THAT(caption("inclusion"), HasSubstr(" Not in this figure: window.\n"));
  for (const char* const whole : {"budget", "stream", "sizes", "lifetimes", "head-mass"}) {
    EXPECT_THAT(caption(whole), Not(HasSubstr("Not in this figure"))) << whole;
  }
}

TEST_F(PlotOutput, NamesPoliciesInTheOrderInWhichTheyAreGiven) {
  for (const std::string first : {"window", "tova"}) {
    const std::string second = first == "tova" ? "window" : "tova";
    ASSERT_EQ(plot({"budget", db_, "--policies", first, "--policies", second, "-o",
                    folder_ / "x.svg", "--script"})
                  .status,
              0);
    const std::string script = test::read_text(folder_ / "x.gp");
    EXPECT_LT(script.find("set label '" + first), script.find("set label '" + second));
  }
}

TEST_F(PlotOutput, WritesAFigureToStandardOutput) {
  const Ran ran = plot({"budget", db_, "--format", "svg", "-o", "-"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(::testing::StartsWith("<?xml"), HasSubstr("\n</svg>\n")));
  EXPECT_THAT(ran.err, HasSubstr("Figure: -\n"));
  EXPECT_FALSE(std::filesystem::exists("-"));
  EXPECT_THAT(plot({"budget", db_, "--script", "-o", "-"}).err, HasSubstr("-o with a name"));
}

}  // namespace
}  // namespace kv::cli
