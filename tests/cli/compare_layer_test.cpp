// kvcheck compare --layer: measures of replays over the heads of one layer.
#include <algorithm>
#include <fstream>

#include "kvcheck/reports/compare/measured.h"
#include "kvcheck/reports/store/results.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/reports/fake_results.h"

namespace kv {
namespace {

using reports::measured;
using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Eight streams of 96 tokens in three layers of two heads each, with the optimum.
class CompareLayer : public ::testing::Test {
 protected:
  CompareLayer() {
    std::vector<std::string> words = {"replay"};
    for (int seed = 1; seed <= 8; ++seed) {
      words.push_back("synthetic:zipf:tokens=96,layers=3,heads=2,seed=" + std::to_string(seed));
    }
    for (const char* const spec :
         {"h2o:budget=16", "streaming:budget=16", "tova:budget=16;unit=model"}) {
      words.insert(words.end(), {"--policy", spec});
    }
    words.insert(words.end(), {"--oracle", "--quiet", "-o", file_});
    const Ran ran = test::run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
  }

  [[nodiscard]] Ran compare(std::vector<std::string> words) const {
    words.insert(words.begin(), {"compare", file_});
    return test::run(words);
  }

  [[nodiscard]] std::vector<reports::StoredRun> runs() const {
    return {reports::read_run(file_, 1).value()};
  }

  [[nodiscard]] reports::MeasuredTexts of_layer(std::string_view name,
                                                std::optional<std::size_t> layer) const {
    return measured(runs(), *reports::measure_named(name), {.layer = layer});
  }

  static std::string error_of(const Ran& ran) {
    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    return ran.err;
  }

  test::TemporaryFolder folder_;
  std::string file_ = folder_ / "run.db";
};

// Every cache here trims to 16 tokens after query 16 has seen 17, so that 79 of 96 queries count.
TEST_F(CompareLayer, IsTheMeanOfItsHeadsAfterTheFirstLoss) {
  const ReplayResult trace = runs()[0].traces[2];
  const reports::MeasuredTexts found = of_layer("retained_mass", 1);
  ASSERT_EQ(found.specs.size(), 3U);
  for (std::size_t s = 0; s < 3; ++s) {
    const std::vector<HeadResult>& heads = trace.cells[s].heads;
    ASSERT_EQ(heads.size(), 6U);
    ASSERT_EQ(heads[2].layer, 1U);
    const double mean = (heads[2].metrics.retained_mass + heads[3].metrics.retained_mass) / 2;
    EXPECT_NEAR(found.specs[s].values[2], 1 - (1 - mean) * 96 / 79, 1e-12);
  }
}

TEST_F(CompareLayer, LayersHaveTheWholeAsTheirMean) {
  for (const std::string name : {"retained_mass", "topk_overlap"}) {
    const reports::MeasuredTexts whole = of_layer(name, std::nullopt);
    EXPECT_FALSE(whole.layer);
    for (std::size_t s = 0; s < 3; ++s) {
      double sum = 0;
      for (std::size_t layer = 0; layer < 3; ++layer) {
        sum += of_layer(name, layer).specs[s].values[0];
      }
      EXPECT_NEAR(sum / 3, whole.specs[s].values[0], 1e-12) << name;
    }
  }
}

// The oracle and the rows moved are those of the layer's own units; a unit of all layers has none.
TEST_F(CompareLayer, UnitsAreThoseOfTheLayer) {
  const reports::MeasuredTexts shares = of_layer("optimum_share", 2);
  const reports::MeasuredTexts masses = of_layer("retained_mass", 2);
  ASSERT_EQ(shares.specs.size(), 2U);
  double optimum = 0;
  for (const UnitBounds& unit : runs()[0].traces[0].cells[0].bounds) {
    if (unit.layer == 2) optimum += unit.optimum / 2;
  }
  EXPECT_NEAR(shares.specs[0].values[0], masses.specs[0].values[0] / (1 - (1 - optimum) * 96 / 79),
              1e-12);
  const reports::MeasuredTexts moved = of_layer("moved_rows", 2);
  ASSERT_EQ(moved.specs.size(), 2U);
  const double all = of_layer("moved_rows", std::nullopt).specs[0].values[0];
  EXPECT_GT(moved.specs[0].values[0], 0);
  EXPECT_LT(moved.specs[0].values[0], all);
}

TEST_F(CompareLayer, OutputsNameTheLayer) {
  const Ran text = compare({"--layer", "1"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("retained mass once evicting, layer 1, 8 texts"),
                              HasSubstr("top-k overlap")));
  EXPECT_THAT(compare({"--layer", "1", "--markdown", "-"}).out,
              HasSubstr("### retained mass once evicting, layer 1\n"));
  EXPECT_THAT(compare({"--layer", "1", "--json", "-"}).out,
              HasSubstr("\"measure\":\"retained_mass\",\"layer\":1,"));
  EXPECT_THAT(compare({"--layer", "1", "--csv", "-"}).out,
              StartsWith("policy,spec,measure,layer,budget,"));
  EXPECT_THAT(compare({"--csv", "-"}).out, StartsWith("policy,spec,measure,budget,"));
  EXPECT_THAT(compare({file_, "--layer", "1", "--csv", "-"}).out,
              StartsWith("policy,spec,measure,layer,budget,texts,other_mean,"));
  const std::vector<std::string> means = {"--means", "--measure", "retained_mass", "--layer", "1"};
  EXPECT_THAT(compare(means).out, HasSubstr("Means over 8 texts and the heads of layer 1, with"));
  const auto with = [&](const std::string& format) {
    std::vector<std::string> words = means;
    words.insert(words.end(), {format, "-"});
    return compare(words).out;
  };
  EXPECT_THAT(with("--csv"), StartsWith("policy,spec,budget,layer,stores_more,retained_mass,"));
  EXPECT_THAT(with("--json"), HasSubstr("\"budget\":\"16\",\"layer\":1,\"stores_more\""));
}

// Of eight streams three have a fourth layer, and one spec ran on two of these alone.
TEST(CompareLayerOfSome, CountsTheTextsThatHaveTheLayer) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "run.db";
  const auto replay = [&](std::size_t layers, int first, int last, const std::string& spec) {
    std::vector<std::string> words = {"replay", "--policy", spec, "--quiet", "-o", file};
    for (int seed = first; seed <= last; ++seed) {
      words.push_back("synthetic:zipf:tokens=48,heads=2,layers=" + std::to_string(layers) +
                      ",seed=" + std::to_string(seed));
    }
    const Ran ran = test::run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
  };
  replay(3, 1, 5, "h2o:budget=16");
  replay(3, 1, 5, "random:budget=16");
  replay(4, 6, 8, "h2o:budget=16");
  replay(4, 6, 7, "streaming:budget=16");
  const auto means = [&](const std::string& layer) {
    return test::run({"compare", file, "--means", "--measure", "retained_mass", "--layer", layer})
        .out;
  };
  EXPECT_THAT(means("3"), AllOf(HasSubstr("Means over 2 to 3 texts and the heads of layer 3"),
                                HasSubstr("(2 texts)"), ::testing::Not(HasSubstr("random"))));
  EXPECT_THAT(means("0"), AllOf(HasSubstr("Means over 2 to 8 texts and the heads of layer 0"),
                                HasSubstr("(5 texts)"), HasSubstr("(2 texts)")));
}

TEST_F(CompareLayer, WrongLayersAreOneSentence) {
  EXPECT_THAT(error_of(compare({"--layer", "3"})),
              HasSubstr("run.db has replays of the layers 0, 1, 2, not of 3; expected --layer"));
  for (const std::string measure : {"loss", "exact", "token_s"}) {
    EXPECT_THAT(error_of(compare({"--layer", "0", "--measure", measure})),
                HasSubstr("--layer selects heads of replays, and " + measure + " is a measure of"));
  }
  std::ofstream(folder_ / "plan.json")
      << R"({"replay": {"traces": ["synthetic:zipf:tokens=48"], "policies": ["h2o:budget=16",
             "streaming:budget=16"]}})";
  const std::string means = folder_ / "means.db";
  ASSERT_EQ(test::run({"sweep", folder_ / "plan.json", "-o", means, "-q"}).status, 0);
  EXPECT_THAT(error_of(test::run({"compare", means, "--layer", "0"})),
              HasSubstr("means.db has replays of which only means over all heads are kept"));
  EXPECT_THAT(error_of(compare({means, "--layer", "0"})), HasSubstr("means.db has replays of"));
  const std::string evaluated = folder_ / "eval.db";
  auto writer = reports::ResultsWriter::begin(evaluated, "kvcheck eval");
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(testing::fake_evaluation(512, true)));
  ASSERT_TRUE(writer->finish());
  EXPECT_THAT(error_of(test::run({"compare", evaluated, "--layer", "0"})),
              HasSubstr("has no two specs to compare in such a measure"));
  EXPECT_THAT(error_of(test::run({"compare", evaluated, "--means", "--layer", "0"})),
              HasSubstr("no text of which such a measure is known"));
}

}  // namespace
}  // namespace kv
