// The targets after the first loss, from what results hold: where they begin, and dense's
// perplexity over them.
#include <cmath>

#include "kvcheck/model/run/evaluate.h"
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

}  // namespace
}  // namespace kv::reports
