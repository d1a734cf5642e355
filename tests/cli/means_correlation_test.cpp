// Rank correlations of kvcheck compare --means.
#include <filesystem>
#include <fstream>

#include "kvcheck/tests/cli/run.h"

namespace kv {
namespace {

using test::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Only queries, keys and values have an output error, of which the second plan has one text.
TEST(MeansCorrelation, IsOfMeasuresOverTheSameTexts) {
  const test::TemporaryFolder folder;
  const auto compared = [&](const std::string& traces) {
    std::ofstream(folder / "plan.json")
        << R"({"replay": {"traces": [)" << traces
        << R"(], "policies": ["streaming", "h2o", "tova", "fifo", "lru", "snapkv:recent=4"],
              "budgets": [16]}})";
    const Ran ran = test::run({"sweep", folder / "plan.json", "-o", folder / "run.db", "-q"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return test::run({"compare", folder / "run.db", "--run", "1", "--means", "--measure",
                      "retained_mass", "--measure", "output_error"});
  };
  const std::string with_values = R"("synthetic:zipf:tokens=64,kind=qkv")";
  const Ran one = compared(with_values);
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("Spearman's rank correlation"));
  std::filesystem::remove(folder / "run.db");
  const Ran two = compared(with_values + R"(, "synthetic:zipf:tokens=64,seed=2")");
  EXPECT_EQ(two.status, 0) << two.err;
  EXPECT_THAT(two.out, AllOf(HasSubstr("1 text (output_error)"), Not(HasSubstr("Spearman"))));
}

}  // namespace
}  // namespace kv
