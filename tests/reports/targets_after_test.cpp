// The targets and the queries after the first loss, from what results hold: where they begin,
// dense's perplexity over them, and the mass that they retain.
#include <boost/json.hpp>
#include <cmath>
#include <fstream>

#include "kvcheck/base/text/text.h"
#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/cli/run.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"
#include "kvcheck/traces/trace.h"

namespace kv::reports {
namespace {

using model::Evaluation;
using test::Ran;
using test::run;

// The report knows dense's losses of whole points only, and what the policy lost before and after.
TEST(DenseAfter, FollowsFromSumsOfLosses) {
  const model::LanguageModel small =
      model::open_model(test::small_llama().write("dense-there")).value();
  std::vector<std::vector<model::TokenId>> streams(2);
  for (int i = 0; i < 40; ++i) {
    streams[0].push_back((i * 7 + 3) % 29);
    if (i < 23) streams[1].push_back((i * 5 + 2) % 29);
  }
  ClosedLoopResult result;
  result.storage = "f32";
  std::vector<Evaluation> evaluations;
  for (const std::string spec : {"dense", "h2o:budget=12", "streaming:sinks=2,recent=17;chunk=5"}) {
    const Cell cell{.spec = parse_spec(spec).value()};
    evaluations.push_back(model::evaluate(small, cell.spec, streams, {}).value());
    result.cells.push_back(model::closed_loop_cell(
        cell, evaluations.back(), std::vector<std::vector<model::RecallQuestion>>(2), 16));
  }
  for (const std::size_t i : {1U, 2U}) {
    double nats = 0;
    for (std::size_t at = 0; at < 2; ++at) {
      const std::vector<float>& dense = evaluations[0].nll[at];
      for (std::size_t k = evaluations[i].first_losses[at]; k < dense.size(); ++k)
        nats += static_cast<double>(dense[k]);
    }
    const auto targets = static_cast<double>(result.cells[i].targets_after);
    ASSERT_GT(targets, 0);
    EXPECT_NEAR(dense_perplexity_after(result, result.cells[i]), std::exp(nats / targets), 1e-9);
  }
}

struct Streams {
  std::vector<std::size_t> targets{};
  std::vector<std::size_t> first_losses{};  // the stream's length if it loses nothing
};

FirstTarget first_of(const Streams& streams, const std::string& spec = "h2o:budget=12") {
  ClosedLoopResult text;
  text.streams = streams.targets.size();
  text.series_width = 16;
  ClosedLoopCell cell;
  cell.cell.spec = parse_spec(spec).value();
  for (std::size_t at = 0; at < text.streams; ++at) {
    for (std::size_t i = 0; i < streams.targets[at]; ++i) {
      if (i / 16 == cell.series.size()) cell.series.push_back({.first = i});
      ++cell.series[i / 16].targets;
    }
    cell.targets_after += streams.targets[at] - streams.first_losses[at];
  }
  return first_target(text, cell);
}

TEST(FirstTarget, IsThatOfEachStreamThoughOthersEndBefore) {
  for (const std::size_t first : {0U, 15U, 16U, 17U, 31U, 33U}) {
    for (const std::size_t shorter : {3U, 16U, 40U}) {
      SCOPED_TRACE(std::to_string(first) + " " + std::to_string(shorter));
      const auto found = first_of(
          {.targets = {64, 80, shorter}, .first_losses = {first, first, std::min(shorter, first)}});
      // A stream that ends in the same point leaves the place open.
      if (first / 16 == shorter / 16 && shorter % 16 > 0) {
        EXPECT_FALSE(found.of_each);
        continue;
      }
      EXPECT_TRUE(found.of_each);
      EXPECT_EQ(found.target, first);
    }
  }
}

TEST(FirstTarget, IsThatOfTheOnlyStreamThatIsLeft) {
  const auto found = first_of({.targets = {41, 20}, .first_losses = {37, 20}});
  EXPECT_TRUE(found.of_each);
  EXPECT_EQ(found.target, 37U);
}

TEST(FirstTarget, IsAMeanIfStreamsDiffer) {
  const auto found = first_of({.targets = {64, 64}, .first_losses = {20, 23}});
  EXPECT_FALSE(found.of_each);
  EXPECT_EQ(found.target, 21U);
  const auto share = first_of({.targets = {64, 64}, .first_losses = {20, 24}},
                              "snapkv:recent=4,ratio=0.5;compress=prompt");
  EXPECT_FALSE(share.of_each);
}

// The retained mass of an evaluation's open loop, against the mean over its queries one by one.
class OpenLoopAfter : public ::testing::Test {
 protected:
  // Windows of 30, 30 and 12 tokens.
  static constexpr std::size_t tokens = 72;
  static constexpr std::size_t window = 30;

  OpenLoopAfter() {
    std::ofstream all(text_);
    for (std::size_t i = 0; i < tokens; ++i) all << i * i * 7 % 31 + 1 << " ";
  }

  // The recorded dense run of a window.
  [[nodiscard]] Trace recorded(std::size_t from) const {
    const std::string ids = folder_ / "window.txt";
    {
      std::ofstream some(ids);
      for (std::size_t i = from; i < std::min(from + window, tokens); ++i) {
        some << i * i * 7 % 31 + 1 << " ";
      }
    }
    const std::string trace = folder_ / ("window-" + std::to_string(from) + ".safetensors");
    const Ran ran = run({"record", "--model", model_, "--ids", "--no-begin", "--text", ids,
                         "--storage", "f32", "-o", trace});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return open_trace(trace).value();
  }

  const test::TemporaryFolder folder_;
  std::string model_ = test::small_llama().write("family");
  std::string text_ = folder_ / "ids.txt";
};

TEST_F(OpenLoopAfter, IsTheMeanOverTheQueriesThatMayLoseSomething) {
  const std::vector<std::string> specs = {"dense", "window:budget=8",
                                          "streaming:sinks=2,recent=10;timing=trim-then-attend",
                                          "h2o:budget=20;timing=lazy:4", "h2o:budget=28"};
  std::vector<std::string> words = {"eval",        "--model",   model_, "--ids",      "--text",
                                    text_,         "--windows", "30",   "--no-begin", "-q",
                                    "--open-loop", "--json",    "-"};
  std::vector<Cell> cells;
  for (const std::string& spec : specs) {
    words.insert(words.end(), {"--policy", spec});
    cells.push_back({.spec = parse_spec(spec).value(), .seed = 1});
  }
  const Ran ran = run(words);
  ASSERT_EQ(ran.status, 0) << ran.err;

  struct Sum {
    double mass = 0;
    double queries = 0;
  };

  std::vector<Sum> sums(cells.size());
  for (std::size_t from = 0; from < tokens; from += window) {
    const Trace trace = recorded(from);
    ReplayOptions options;
    options.series_points = trace.info().tokens;
    const ReplayResult result = replay(trace, cells, options).value();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      bool loses = false;
      for (const SeriesPoint& point : result.cells[i].series) {
        loses = loses || point.visible < static_cast<double>(point.first_step) + 1;
        if (!loses) continue;
        sums[i].mass += point.retained_mass;
        ++sums[i].queries;
      }
    }
  }
  std::size_t line = 0;
  for (const std::string_view text : split(ran.out, '\n')) {
    if (text.empty()) continue;
    const boost::json::value cell = boost::json::parse(text);
    EXPECT_EQ(cell.at("streams").to_number<int>(), 3);
    const Sum& sum = sums[line++];
    const boost::json::value& found = cell.at("retained_mass_after");
    ASSERT_EQ(found.is_null(), sum.queries == 0) << text;
    if (sum.queries == 0) continue;
    EXPECT_NEAR(found.to_number<double>(), sum.mass / sum.queries, 1e-9) << text;
    EXPECT_LT(found.to_number<double>(), cell.at("retained_mass").to_number<double>()) << text;
  }
  EXPECT_EQ(line, specs.size());
  EXPECT_EQ(sums[0].queries, 0);
  // The same numbers are a measure of comparisons.
  words.insert(words.end(), {"-o", folder_ / "run.db"});
  ASSERT_EQ(run(words).status, 0);
  const Ran means =
      run({"compare", folder_ / "run.db", "--means", "--measure", "open_loop_mass", "--json", "-"});
  EXPECT_EQ(means.status, 0) << means.err;
  std::size_t found = 0;
  for (const std::string_view text : split(means.out, '\n')) {
    if (text.empty()) continue;
    const boost::json::value row = boost::json::parse(text);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].spec.canonical() != row.at("spec").as_string()) continue;
      EXPECT_NEAR(row.at("open_loop_mass").to_number<double>(), sums[i].mass / sums[i].queries,
                  1e-9);
      ++found;
    }
  }
  EXPECT_EQ(found, 4U);
  EXPECT_EQ(sums[4].queries, 2);  // the last query of each window of 30 tokens
}

}  // namespace
}  // namespace kv::reports
