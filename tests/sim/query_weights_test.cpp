// What recorded queries stand for, and their intervals, against computations by hand.
#include "kvcheck/sim/samples/query_weights.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "kvcheck/base/random/rng.h"

namespace kv {
namespace {

using namespace testing;

TraceInfo sample_of(std::size_t tokens, std::vector<Position> queries, std::string_view design) {
  TraceInfo info;
  info.tokens = tokens;
  info.queries = std::move(queries);
  if (!design.empty()) info.query_design = parse_query_design(design).value();
  return info;
}

double sum_of_weights(const QueryWeights& weights, std::size_t rows) {
  double sum = 0;
  for (std::size_t row = 0; row < rows; ++row) sum += weights.counts(row) ? weights.weight(row) : 0;
  return sum;
}

TEST(QueryWeights, OfAllQueriesEachCountsOnce) {
  TraceInfo info;
  info.tokens = 5;
  const QueryWeights weights(info, 3);
  EXPECT_EQ(weights.total(), 5);
  EXPECT_EQ(weights.known(), 0);
  for (std::size_t row = 0; row < 5; ++row) {
    EXPECT_EQ(weights.weight(row), 1);
    EXPECT_TRUE(weights.counts(row));
  }
}

TEST(QueryWeights, QueriesWithoutADesignStandForNoOthers) {
  const QueryWeights weights(sample_of(10, {1, 4, 9}, ""), 2);
  EXPECT_EQ(weights.total(), 3);
  EXPECT_EQ(weights.known(), 0);
  EXPECT_EQ(weights.weight(2), 1);
  EXPECT_EQ(QueryWeights(sample_of(10, {1, 4, 9}, "1,4,9"), 2).total(), 3);
}

// Blocks [0, 4), [4, 8), [8, 10), of which 5 is in a span and losses begin at 2.
TEST(QueryWeights, DrawnQueriesStandForTheirBlock) {
  const QueryWeights weights(sample_of(10, {1, 3, 5, 6, 7, 9}, "2/4,5"), 2);
  EXPECT_EQ(weights.known(), 2);
  EXPECT_EQ(weights.total(), 10);
  EXPECT_FALSE(weights.counts(0));
  EXPECT_EQ(weights.weight(1), 2) << "3 stands for 2 and 3";
  EXPECT_EQ(weights.weight(2), 1) << "5 is certain";
  EXPECT_EQ(weights.weight(3), 1.5) << "6 and 7 stand for 4, 6 and 7";
  EXPECT_EQ(weights.weight(5), 2) << "9 stands for 8 and 9";
  EXPECT_EQ(sum_of_weights(weights, 6), 8);
}

TEST(QueryWeights, AStratumWithoutAQueryIsCountedWithTheNext) {
  // Losses begin at 3, after the only query of the first block.
  const QueryWeights weights(sample_of(8, {1, 6}, "1/4"), 3);
  EXPECT_EQ(weights.weight(1), 5);
  EXPECT_EQ(weights.known(), 3);
  // They begin after the last query: nothing is known of what comes then.
  EXPECT_TRUE(std::isnan(QueryWeights(sample_of(8, {1, 6}, "1/4"), 7).known()));
  EXPECT_EQ(QueryWeights(sample_of(8, {1, 6}, "1/4"), 8).known(), 8);
}

TEST(QueryWeights, TheyAddUpToTheStreamWhateverTheDesign) {
  for (const char* text : {"8/64", "5/33", "1/16", "every:7", "every:16+3", "8/64,10-99",
                           "every:5,0-30,200-299", "64/64"}) {
    for (const std::size_t tokens : {300U, 512U}) {
      for (const Position first : {0U, 1U, 33U, 100U}) {
        auto drawn = draw_queries(parse_query_design(text).value(), tokens, 7).value();
        TraceInfo info = sample_of(tokens, drawn.queries, "");
        info.query_design = drawn.design;
        const QueryWeights weights(info, first);
        EXPECT_NEAR(sum_of_weights(weights, drawn.queries.size()) + weights.known(),
                    static_cast<double>(tokens), 1e-9)
            << text << " of " << tokens << " from " << first;
      }
    }
  }
}

double t_of(double degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), 0.975);
}

Measured half_widths(const QueryWeights& weights, const std::vector<double>& values) {
  SamplingError error(weights);
  for (std::size_t row = 0; row < values.size(); ++row) {
    error.add(row, {values[row], 2 * values[row], 1, std::nan("")});
  }
  return error.half_widths();
}

// Two blocks of 10 of which 3 and 2 are drawn (as of "3/10" cut short), by the formula of the
// stratified mean: sum over blocks of N (N - n) s^2 / n.
TEST(SamplingError, IsTheStratifiedOne) {
  const QueryWeights weights(sample_of(20, {0, 4, 9, 12, 15, 17}, "3/10"), 0);
  const std::vector<double> values = {1, 2, 6, 0.5, 0.25, 0.75};
  const double first = 10 * 7 * 7.0 / 3;      // s^2 of 1, 2, 6 is 7
  const double second = 10 * 7 * 0.0625 / 3;  // of the others 1/16
  const double variance = first + second;
  const double degrees = variance * variance / (first * first / 2 + second * second / 2);
  const Measured found = half_widths(weights, values);
  EXPECT_NEAR(found[0], t_of(degrees) * std::sqrt(variance) / 20, 1e-12);
  EXPECT_NEAR(found[1], 2 * found[0], 1e-12);
  EXPECT_EQ(found[2], 0) << "what does not vary has no error";
  EXPECT_TRUE(std::isnan(found[3])) << "what was not measured has no interval";
}

TEST(SamplingError, IsNoneWhereAllQueriesAreRecorded) {
  std::vector<Position> all(12);
  std::iota(all.begin(), all.end(), Position{0});
  const QueryWeights weights(sample_of(12, all, "4/4"), 0);
  EXPECT_EQ(half_widths(weights, {1, 5, 2, 8, 3, 9, 1, 2, 3, 4, 5, 6})[0], 0);
}

TEST(SamplingError, SingleQueriesOfBlocksAreJoinedInPairs) {
  const QueryWeights weights(sample_of(12, {1, 4, 8}, "1/4"), 0);
  ASSERT_EQ(weights.groups().size(), 1U) << "the third joins the first two";
  EXPECT_EQ(weights.groups()[0].population, 12);
  EXPECT_EQ(weights.groups()[0].recorded, 3U);
  EXPECT_TRUE(std::isnan(half_widths(QueryWeights(sample_of(4, {1}, "1/4"), 0), {3})[0]));
}

// Regular queries: each two neighbours as if drawn from what they stand for.
TEST(SamplingError, OfRegularQueriesComparesNeighbours) {
  const QueryWeights weights(sample_of(16, {1, 5, 9, 13}, "every:4+1"), 0);
  const double variance = 8 * 6 * 2.0 / 2 + 8 * 6 * 0.5 / 2;
  const double degrees = variance * variance / (48.0 * 48 + 12.0 * 12);
  EXPECT_NEAR(half_widths(weights, {1, 3, 7, 8})[0], t_of(degrees) * std::sqrt(variance) / 16,
              1e-12);
}

}  // namespace
}  // namespace kv
