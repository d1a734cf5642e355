// The targets after the first loss, from what results hold: where they begin, and dense's
// perplexity over them.
#include <cmath>

#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/reports/numbers/after_loss.h"
#include "kvcheck/reports/tables/closed_loop_tables.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::reports {
namespace {

using model::Evaluation;

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

}  // namespace
}  // namespace kv::reports
