// Sums over an evaluation's points and bins.
#include "kvcheck/sim/replay/closed_loop.h"

#include <cmath>

namespace kv {
namespace {

ClosedLoopCell cell_of(const std::vector<LossPoint>& series) {
  ClosedLoopCell cell;
  cell.series = series;
  return cell;
}

TEST(ClosedLoop, SegmentsDouble) {
  const ClosedLoopCell cell = cell_of({{0, 4, 6}, {2, 3, 4}, {4, 2, 2}, {6, 2, 2}, {8, 1, 3}});
  const std::vector<Segment> segments = segments_of(cell.series, 2);
  ASSERT_EQ(segments.size(), 4U);
  EXPECT_EQ(segments[0].targets, 4U);
  EXPECT_NEAR(segments[0].perplexity(), std::exp(1.5), 1e-12);
  EXPECT_EQ(segments[1].targets, 3U);
  EXPECT_EQ(segments[2].first, 4U);
  EXPECT_EQ(segments[2].targets, 4U);
  EXPECT_EQ(segments[3].last, 16U);
  EXPECT_EQ(segments[3].targets, 1U);
  EXPECT_EQ(cell.targets(), 12U);
  EXPECT_NEAR(cell.perplexity(), std::exp(17.0 / 12), 1e-12);
  EXPECT_TRUE(segments_of({}, 2).empty());
  EXPECT_EQ(ClosedLoopCell().perplexity(), 1);
}

TEST(ClosedLoop, RecallInAllSumsItsBins) {
  ClosedLoopResult result;
  EXPECT_FALSE(result.asks());
  ClosedLoopCell& cell = result.cells.emplace_back();
  EXPECT_EQ(cell.recall_in_all().asked, 0U);
  cell.recall = recall_bins();
  EXPECT_FALSE(result.asks());
  EXPECT_TRUE(std::isnan(cell.recall[0].share()));
  cell.recall[0].asked = 3;
  cell.recall[0].right = 3;
  cell.recall[4].asked = 5;
  cell.recall[4].right = 1;
  EXPECT_TRUE(result.asks());
  EXPECT_EQ(cell.recall_in_all().label(), "1-65536");
  EXPECT_EQ(cell.recall_in_all().share(), 0.5);
}

}  // namespace
}  // namespace kv
