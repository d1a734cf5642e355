// Replays of traces of version 2 against tests/sim/rules_reference.py, an independent NumPy
// implementation of traces/FORMAT.md.
#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>

#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/paths.h"

namespace kv {
namespace {

using test::Ran;
using testing::HasSubstr;

class RulesNumPy : public testing::Test {
 protected:
  void SetUp() override {
    if (test::python_with_numpy().empty()) GTEST_SKIP() << "no python3 with numpy on this machine";
    ASSERT_EQ(run(script() + " make " + (folder_ / ".")), 0);
  }

  static int run(const std::string& command) { return std::system(command.c_str()); }

  [[nodiscard]] std::string script() const {
    return test::python_with_numpy() + " '" KVCHECK_SOURCE_DIR "/tests/sim/rules_reference.py'";
  }

  // Replays that file under these policies, and returns what the script says of the results.
  int compared(const std::string& file,
               const std::vector<std::string>& policies,
               const std::vector<std::string>& options = {}) {
    const std::string results = folder_ / "results.jsonl";
    std::vector<std::string> words = {"replay", folder_ / file};
    for (const std::string& policy : policies) words.insert(words.end(), {"--policy", policy});
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--per-head", "--top-k", "4", "-q", "--json", results});
    const Ran ran = test::run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string name = file.substr(0, file.find('.'));
    return ran.status != 0 ? 1 : run(script() + " compare " + name + " " + results);
  }

  const test::TemporaryFolder folder_;
};

const std::vector<std::string> at_positions = {
    "streaming:sinks=2,recent=8",     "streaming:sinks=1,recent=20", "window:recent=10",
    "h2o:sinks=2,recent=4,budget=12", "h2o:recent=0,budget=24",      "tova:budget=12"};

// A scaled rotation by tables, a soft cap, sinks, windows by layer and a bias per head.
TEST_F(RulesNumPy, AgreesAtPositionsAndAtRanksWithin1e6) {
  std::vector<std::string> policies = at_positions;
  for (const std::string& policy : at_positions) policies.push_back(policy + ";positions=in-cache");
  EXPECT_EQ(compared("plain.safetensors", policies), 0);
  EXPECT_EQ(compared("interleaved.safetensors", policies), 0);
  EXPECT_EQ(compared("rotated.safetensors", policies), 0);
}

// The dump has the rows of the same model, so its numbers are those of the vectors.
TEST_F(RulesNumPy, AgreesOnTheDumpOfAGroupedModelWithSinksWithin1e6) {
  EXPECT_EQ(compared("rows.npy", at_positions, {"--kv-heads", "2", "--learned-sinks"}), 0);
  EXPECT_EQ(compared("rows.npz", at_positions), 0);
  const Ran refused = test::run(
      {"replay", folder_ / "rows.npy", "--policy", "window", "--budget", "8", "--kv-heads", "2"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("unless the model has learned sinks, which --learned-sinks"));
}

// Policies that look at vectors before rotation get the same from both files, to a rounding.
TEST_F(RulesNumPy, VectorsAreRotatedBackForPoliciesThatCompareThem) {
  const auto retained = [&](const std::string& file, const std::string& policy) {
    const Ran ran = test::run(
        {"replay", folder_ / file, "--policy", policy, "--budget", "16", "--json", "-", "-q"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return boost::json::parse(ran.out).at("retained_mass").to_number<double>();
  };
  for (const std::string policy : {"keydiff", "expected-attention", "semantic-blocks", "rkv"}) {
    const double plain = retained("plain.safetensors", policy);
    EXPECT_GT(plain, 0.1) << policy;
    EXPECT_LT(plain, 0.999) << policy;
    EXPECT_NEAR(retained("rotated.safetensors", policy), plain, 2e-6) << policy;
  }
}

TEST_F(RulesNumPy, SpecsThatSuchATraceCannotServeAreRefusedByName) {
  const auto refusal = [&](const std::string& policy) {
    const Ran ran = test::run({"replay", folder_ / "plain.safetensors", "--policy", policy});
    EXPECT_EQ(ran.status, 2);
    return ran.err;
  };
  EXPECT_THAT(refusal("dense;visibility=top-pages:8/4/0"),
              HasSubstr("selects pages, but layer 4 of 'plain.safetensors' has a window of 11"));
  EXPECT_THAT(refusal("keydiff:budget=8;unit=model"),
              HasSubstr("rotate unlike each other; expected unit=layer or a smaller one"));
}

}  // namespace
}  // namespace kv
