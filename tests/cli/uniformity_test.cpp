// kvcheck uniformity: verdicts, statuses, JSON and figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "kvcheck/reports/figures/figure_uniformity.h"
#include "kvcheck/tests/cli/run.h"

namespace kv::test {
namespace {

TEST(UniformityCommand, TheReservoirIsUniform) {
  const Ran ran = run(
      {"uniformity", "reservoir:sinks=1,recent=2,budget=7", "--tokens", "19", "--trials", "3000"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_NE(ran.out.find("uniform: nothing deviates"), std::string::npos) << ran.out;
  for (const char* name : {"T1", "trend", "largest", "T2", "TA", "TE"}) {
    EXPECT_NE(ran.out.find(name), std::string::npos) << name;
  }
}

// 7,140 pairs give a statistic of thousands, and effects of more than one line.
TEST(UniformityCommand, NumbersOfATableAreWhole) {
  const Ran ran = run({"uniformity", "reservoir:sinks=1,recent=2,budget=63", "--tokens", "123",
                       "--trials", "2000"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("\n  T2 +[67][0-9][0-9][0-9] +[67][0-9][0-9][0-9] "));
  EXPECT_EQ(ran.out.find("e+"), std::string::npos) << ran.out;
  EXPECT_THAT(ran.out, testing::Not(testing::ContainsRegex("\n *%"))) << ran.out;
}

TEST(UniformityCommand, ThePrintedReservoirIsNot) {
  const Ran ran = run({"uniformity", "reservoir-as-printed:sinks=1,recent=2,budget=7", "--tokens",
                       "35", "--trials", "2000"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_NE(ran.out.find("(4/5)^age"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("smallest"), std::string::npos);
  EXPECT_NE(ran.out.find("1/4 1/4 1/2 instead of 1/3"), std::string::npos);
}

TEST(UniformityCommand, JsonHoldsEverything) {
  const Ran ran = run({"uniformity", "reservoir:sinks=1,recent=2,budget=7", "--tokens", "19",
                       "--trials", "2000", "--json", "-", "--threads", "2"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const boost::json::object json = boost::json::parse(ran.out).as_object();
  EXPECT_EQ(json.at("entered").as_int64(), 16);
  EXPECT_EQ(json.at("capacity").as_int64(), 4);
  EXPECT_TRUE(json.at("uniform").as_bool());
  EXPECT_EQ(json.at("statistics").as_array().size(), 6U);
  EXPECT_EQ(json.at("kept").as_array().size(), 16U);
  EXPECT_EQ(json.at("pairs").as_array().size(), 15U);
  EXPECT_EQ(json.at("accepted").as_array().size(), 12U);
  EXPECT_EQ(json.at("age_ranks").as_array().size(), 4U);
  std::int64_t kept = 0;
  for (const auto& count : json.at("kept").as_array()) kept += count.as_int64();
  EXPECT_EQ(kept, 2000 * 4);
  const Ran again = run({"uniformity", "reservoir:sinks=1,recent=2,budget=7", "--tokens", "19",
                         "--trials", "2000", "--json", "-", "--threads", "1"});
  EXPECT_EQ(again.out, ran.out);
}

TEST(UniformityCommand, BadWordsAreUsage) {
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& why) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 2);
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
  };
  refused({"uniformity"}, "SPEC");
  refused({"uniformity", "streaming"}, "no middle");
  refused({"uniformity", "reservoir", "--tokens", "20"}, "more tokens");
  refused({"uniformity", "reservoir", "--trials", "0"}, "--trials");
  refused({"uniformity", "reservoyr"}, "reservoir");
  refused({"uniformity", "reservoir", "--plott", "x"}, "--plot");
}

TEST(UniformityCommand, FiguresHaveTheirNumbers) {
  reports::UniformityPlot plot{.label = "it's",
                               .streams = 10,
                               .first_position = 3,
                               .capacity = 2,
                               .kept = {5, 5, 4, 6},
                               .band = 0.1,
                               .pair_ratio = std::vector<double>(16, 1.0)};
  const reports::Figure inclusion = reports::uniformity_inclusion_figure(plot);
  EXPECT_EQ(std::ranges::count(inclusion.csv, '\n'), 5);
  EXPECT_NE(inclusion.csv.find(",3,0.5,0.5,0.4,0.6"), std::string::npos) << inclusion.csv;
  const reports::Figure pairs = reports::uniformity_pairs_figure(plot);
  EXPECT_EQ(std::ranges::count(pairs.csv, '\n'), 7);
  // Each cell is drawn, and a page of 256 x 256 would be megabytes.
  reports::UniformityPlot many = plot;
  many.kept.assign(200, 5);
  many.pair_ratio.assign(std::size_t{200} * 200, 1.0);
  const reports::Figure fewer = reports::uniformity_pairs_figure(many);
  EXPECT_LE(std::ranges::count(fewer.csv, '\n'), 64 * 65 / 2 + 1);
  EXPECT_NE(fewer.caption.find("mean over 4 by 4 positions"), std::string::npos) << fewer.caption;
  plot.pair_ratio.clear();
  EXPECT_TRUE(reports::uniformity_pairs_figure(plot).body.empty());
}

TEST(UniformityCommand, PlotsAreWritten) {
  if (run_shell("command -v gnuplot").status != 0) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryFolder folder;
  const Ran ran = run({"uniformity", "reservoir:sinks=1,recent=2,budget=7", "--tokens", "19",
                       "--trials", "500", "--plot", folder / "plots"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  for (const std::string name : {"uniformity-inclusion", "uniformity-pairs"}) {
    for (const std::string suffix : {".svg", ".png", ".csv"}) {
      EXPECT_FALSE(read_text(folder / ("plots/" + name + suffix)).empty()) << name << suffix;
    }
  }
}

}  // namespace
}  // namespace kv::test
