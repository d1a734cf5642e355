// kvcheck compare: which results it takes, and its table of means.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kvcheck/reports/compare/means_table.h"
#include "kvcheck/reports/numbers/paired.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/killed_run.h"

namespace kv {
namespace {

using reports::measured;
using test::Ran;
using test::run;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A results file with replays of eight streams, and of evaluations of two texts at two sizes of
// windows.
class CompareMeans : public testing::Test {
 protected:
  CompareMeans() {
    std::string traces;
    for (int seed = 1; seed <= 8; ++seed) {
      traces += std::string(seed > 1 ? ", " : "") +
                "\"synthetic:zipf:tokens=160,heads=2,seed=" + std::to_string(seed) + "\"";
    }
    sweep(R"({"replay": {"traces": [)" + traces +
          R"(], "policies": ["streaming:budget=16", "h2o:budget=16", "random:budget=16",
             "tova:budget=16;timing=lazy:8"], "seeds": 2, "oracle": true}})");
    const std::string model = test::a_model();
    sweep(R"({"eval": {"model": ")" + model + R"(", "texts": [")" + model +
          R"(/held-out.txt"], "tokens": 200, "windows": [0, 64], "policies": ["dense",
             "streaming:budget=16", "tova:budget=16;timing=lazy:8"]}})");
  }

  void sweep(const std::string& plan) const {
    std::ofstream(folder_ / "plan.json") << plan;
    const Ran ran = run({"sweep", folder_ / "plan.json", "-o", folder_ / "run.db", "-q"});
    ASSERT_EQ(ran.status, 0) << ran.err;
  }

  [[nodiscard]] Ran compare(std::vector<std::string> words) const {
    words.insert(words.begin(), {"compare", folder_ / "run.db"});
    return run(words);
  }

  [[nodiscard]] std::vector<reports::StoredRun> runs() const {
    return {reports::read_run(folder_ / "run.db", 1).value(),
            reports::read_run(folder_ / "run.db", 2).value()};
  }

  static reports::Measure measure(std::string_view name) {
    for (const reports::Measure& each : reports::measures()) {
      if (each.name == name) return each;
    }
    ADD_FAILURE() << name;
    return {};
  }

  test::TemporaryFolder folder_;
};

TEST_F(CompareMeans, AreThoseOfTheTextsWithTheirBootstrapIntervals) {
  const auto masses = measured(runs(), measure("retained_mass"));
  const auto interval = reports::bootstrap_interval(masses.specs[0].values);
  const Ran ran =
      compare({"--means", "--measure", "retained_mass", "--window", "64", "--json", "-"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_LT(interval.low, interval.mean);
  // The best of the four is one of the lines; the first spec's numbers are on its own.
  const std::size_t line = ran.out.find("\"spec\":\"" + masses.specs[0].canonical);
  ASSERT_NE(line, std::string::npos) << ran.out;
  const auto number = [&](const std::string& name) {
    const std::string field = "\"" + name + "\":";
    return std::stod(ran.out.substr(ran.out.find(field, line) + field.size()));
  };
  EXPECT_DOUBLE_EQ(number("retained_mass"), interval.mean);
  EXPECT_DOUBLE_EQ(number("retained_mass_low"), interval.low);
  EXPECT_DOUBLE_EQ(number("retained_mass_high"), interval.high);
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 4);
}

TEST_F(CompareMeans, ListCachesThatStoreMoreAfterTheOthersInEvaluationsToo) {
  const Ran ran = compare({"--means", "--measure", "loss", "--window", "64"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_LT(ran.out.find("streaming"), ran.out.find("tova"));
  EXPECT_LT(ran.out.find("tova lazy:8"), ran.out.size());
  EXPECT_THAT(ran.out, HasSubstr("yes"));
}

TEST_F(CompareMeans, ShareOfTheOptimumIsTheMassDividedByIt) {
  const auto masses = measured(runs(), measure("retained_mass"));
  const auto shares = measured(runs(), measure("optimum_share"));
  ASSERT_EQ(masses.specs.size(), shares.specs.size());
  for (std::size_t s = 0; s < shares.specs.size(); ++s) {
    for (std::size_t t = 0; t < 8; ++t) {
      EXPECT_GT(shares.specs[s].values[t], masses.specs[s].values[t]);
      EXPECT_LE(shares.specs[s].values[t], 1.0 + 1e-9);
    }
  }
}

TEST_F(CompareMeans, RecallNearAndFarMakeUpRecall) {
  const auto all = runs();
  const reports::Selection uncut{.window = 0, .accepts = {}};
  const ClosedLoopResult& text = all[1].evaluations[0];
  ASSERT_EQ(text.window, 0U);
  std::size_t near = 0;
  std::size_t right = 0;
  for (const RecallBin& bin : text.cells[0].recall) {
    if (bin.last > 64) continue;
    near += bin.asked;
    right += bin.right;
  }
  ASSERT_GT(near, 0U);
  EXPECT_DOUBLE_EQ(measured(all, measure("recall_near"), uncut).specs[0].values[0],
                   static_cast<double>(right) / static_cast<double>(near));
}

// Dense loses nothing, and so has no value; specs of one budget begin at one target.
TEST_F(CompareMeans, LossOnceEvictingLeavesOutWhatDenseWouldPredictAlike) {
  const auto all = runs();
  const reports::Selection uncut{.window = 0, .accepts = {}};
  const auto after = measured(all, measure("loss_after"), uncut);
  const ClosedLoopResult& text = all[1].evaluations[0];
  ASSERT_EQ(text.window, 0U);
  ASSERT_FALSE(after.specs.empty());
  for (const reports::MeasuredSpec& spec : after.specs) {
    EXPECT_NE(spec.spec.policy->name, "dense");
    const auto cell = std::ranges::find(text.cells, spec.canonical, [](const ClosedLoopCell& one) {
      return one.cell.spec.canonical();
    });
    ASSERT_NE(cell, text.cells.end());
    EXPECT_LT(cell->targets_after, cell->targets());
    EXPECT_DOUBLE_EQ(spec.values[0], cell->nats_after / static_cast<double>(cell->targets_after));
    EXPECT_EQ(spec.first_queries[0].target, cell->targets() - cell->targets_after);
    EXPECT_TRUE(spec.first_queries[0].of_each);
  }
}

// What eviction costs: the same targets under dense are those that are left of its loss after the
// targets that both predict alike.
TEST_F(CompareMeans, LossOverDenseIsOverTheSameTargets) {
  const auto all = runs();
  const reports::Selection uncut{.window = 0, .accepts = {}};
  const auto over = measured(all, measure("loss_over_dense"), uncut);
  const auto after = measured(all, measure("loss_after"), uncut);
  const auto whole = measured(all, measure("loss"), uncut);
  ASSERT_EQ(over.specs.size(), after.specs.size());
  const auto of_all = [&](std::string_view policy) {
    const auto found =
        std::ranges::find(whole.specs, policy,
                          [](const reports::MeasuredSpec& spec) { return spec.spec.policy->name; });
    return found == whole.specs.end() ? not_measured : found->values[0];
  };
  const auto targets = static_cast<double>(all[1].evaluations[0].cells[0].targets());
  for (std::size_t i = 0; i < over.specs.size(); ++i) {
    const reports::MeasuredSpec& spec = over.specs[i];
    const double left = targets - static_cast<double>(spec.first_queries[0].target);
    const double cost = (of_all(spec.spec.policy->name) - of_all("dense")) * targets / left;
    EXPECT_NEAR(spec.values[0], cost, 1e-9) << spec.canonical;
    EXPECT_GT(std::abs(cost), 1e-6);
  }
  const Ran means = compare({"--measure", "loss_over_dense", "--means", "--window", "0"});
  EXPECT_EQ(means.status, 0) << means.err;
  EXPECT_THAT(means.out, AllOf(HasSubstr("above that of dense"), Not(HasSubstr("dense  "))));
}

TEST_F(CompareMeans, LossOverDenseSaysThatDenseIsMissing) {
  const std::string model = test::a_model();
  std::ofstream(folder_ / "plan.json")
      << R"({"eval": {"model": ")" << model << R"(", "texts": [")" << model
      << R"(/held-out.txt"], "tokens": 200, "policies": ["streaming:budget=16",)"
      << R"( "h2o:budget=16"]}})";
  const std::string file = folder_ / "none.db";
  ASSERT_EQ(run({"sweep", folder_ / "plan.json", "-o", file, "-q"}).status, 0);
  const Ran alone = run({"compare", file, "--measure", "loss_over_dense"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("needs an evaluation in which dense stands"));
  const Ran both =
      run({"compare", folder_ / "run.db", file, "--measure", "loss_over_dense", "--window", "0"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, AllOf(HasSubstr("which the second file does not have"),
                              Not(HasSubstr("in the first file only"))));
}

TEST_F(CompareMeans, AgainstDenseWhichHasNoValueSaysWhyAndWhatHas) {
  const Ran ran = compare({"--against", "dense", "--measure", "loss_after", "--window", "0"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("dense has no value of loss_after, which begins at the first "
                                 "eviction, because it evicts nothing; use loss, which is over "
                                 "all targets, or --measure loss_over_dense without --against"));
  const Ran both = compare(
      {"--against", "dense", "--measure", "loss_after", "--measure", "loss", "--window", "0"});
  EXPECT_EQ(both.status, 0) << both.err;
  EXPECT_THAT(both.err, HasSubstr("in loss_after. dense has no value of loss_after"));
  const Ran replays =
      compare({"--against", "dense", "--measure", "retained_mass", "--window", "0"});
  EXPECT_THAT(replays.err, HasSubstr("because it evicts nothing; use a policy that evicts"));
}

TEST_F(CompareMeans, ATextInTwoSizesOfWindowsIsNotTwoTexts) {
  const Ran both = compare({"--measure", "loss"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err,
              HasSubstr("run.db has evaluations of texts in windows of 0, 64 tokens (0: "
                        "not cut); a text in two sizes is not two texts; expected --window"));
  EXPECT_THAT(compare({"--measure", "loss", "--window", "64", "--against", "dense"}).out,
              HasSubstr(", 1 text\n"));
  EXPECT_EQ(measured(runs(), measure("loss"), {.window = 0, .accepts = {}}).texts.size(), 1U);
}

TEST_F(CompareMeans, ATextAndItsBeginningAreNotTwoTexts) {
  const std::string model = test::a_model();
  sweep(R"({"eval": {"model": ")" + model + R"(", "texts": [")" + model +
        R"(/held-out.txt"], "tokens": 129, "windows": [64], "policies": ["dense",
             "streaming:budget=16"]}})");
  const Ran both = compare({"--measure", "loss", "--window", "64"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("run.db has evaluations of held-out.txt with 129 and with 200 "
                                  "tokens, which are not different texts; expected --run"));
  EXPECT_THAT(compare({"--measure", "loss", "--window", "0", "--against", "dense"}).out,
              HasSubstr(", 1 text\n"));
  EXPECT_EQ(compare({"--measure", "retained_mass", "--window", "64"}).status, 0);
}

// Nor does another model, or way to store keys, values or weights, make a text a second one.
TEST_F(CompareMeans, ATextOfTwoSettingsIsNotTwoTexts) {
  const std::string model = test::a_model();
  const auto sweep_with = [&](const std::string& setting) {
    sweep(R"({"eval": {"model": ")" + model + R"(", "texts": [")" + model +
          R"(/held-out.txt"], "tokens": 200, "windows": [64], )" + setting +
          R"(, "policies": ["dense", "streaming:budget=16"]}})");
  };
  sweep_with(R"("storage": "f16")");
  const std::vector<std::string> words = {"--measure", "loss", "--window", "64"};
  const Ran stored = compare(words);
  EXPECT_EQ(stored.status, 2);
  EXPECT_THAT(stored.err, AllOf(HasSubstr("with f16 and of "), HasSubstr("with f32, which are not"),
                                HasSubstr("different texts; expected --run")));
  EXPECT_EQ(
      run({"compare", folder_ / "run.db", "--run", "3", "--measure", "loss", "--against", "dense"})
          .status,
      0);
  std::filesystem::remove(folder_ / "run.db");
  sweep_with(R"("weights": "as-is")");
  EXPECT_EQ(compare({"--measure", "loss", "--against", "dense"}).status, 0);
  sweep_with(R"("weights": "int8")");
  const Ran weights = compare({"--measure", "loss", "--against", "dense"});
  EXPECT_EQ(weights.status, 2);
  EXPECT_THAT(weights.err, HasSubstr("layers' weights as int8"));
  EXPECT_EQ(run({"report", folder_ / "run.db", "-o", folder_ / "both"}).status, 0);
}

TEST_F(CompareMeans, AReportBeginsWithThemAndShowsSomeOfManyTexts) {
  const std::string report = folder_ / "report";
  ASSERT_EQ(run({"report", folder_ / "run.db", "-o", report, "--sections", "1"}).status, 0);
  std::stringstream page;
  page << std::ifstream(report + "/index.html").rdbuf();
  EXPECT_THAT(page.str(), AllOf(HasSubstr("By retained mass once evicting, the best at a budget of "
                                          "16 tokens over 8 texts is "),
                                HasSubstr(" are shown to be worse"),
                                HasSubstr("2 of 10 texts have sections of their own here."),
                                HasSubstr("--sections 10 shows each")));
  EXPECT_TRUE(std::filesystem::exists(report + "/trace-1"));
  EXPECT_FALSE(std::filesystem::exists(report + "/trace-2"));
  EXPECT_FALSE(std::filesystem::exists(report + "/evaluation-2"));
}

TEST_F(CompareMeans, OnlyThePoliciesThatAreNamed) {
  const Ran ran = compare({"--measure", "retained_mass", "--window", "0", "--policies", "h2o",
                           "--policies", "random:budget=16"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("h2o"), HasSubstr("random"), Not(HasSubstr("streaming"))));
}

TEST_F(CompareMeans, NeedOneFileAndAMeasureThatItHas) {
  const Ran two = run({"compare", folder_ / "run.db", folder_ / "run.db", "--means"});
  EXPECT_EQ(two.status, 2);
  EXPECT_THAT(two.err, HasSubstr("--means is for one file"));
  EXPECT_THAT(compare({"--means", "--against", "dense", "--window", "0"}).err,
              HasSubstr("--means has no tests; expected no --against beside it"));
  const Ran none = compare({"--means", "--measure", "exact", "--window", "0"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("has no text of which such a measure is known"));
}

}  // namespace
}  // namespace kv
