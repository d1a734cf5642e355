#include "kvcheck/model/run/token_sampler.h"

#include <array>
#include <cmath>

namespace kv::model {
namespace {

std::array<int, 4> counts(const SampleOptions& options, const std::vector<float>& logits) {
  TokenSampler sampler(options, Rng(5));
  std::array<int, 4> found{};
  for (Position i = 0; i < 20000; ++i) {
    ++found[static_cast<std::size_t>(sampler.draw(logits, i))];
  }
  return found;
}

const std::vector<float> logits = {0, std::log(2.0F), std::log(4.0F), std::log(1.0F)};

TEST(Sample, DrawsByProbability) {
  // 20,000 draws: one count leaves these bounds by chance once in 10^9.
  const auto found = counts({}, logits);
  EXPECT_NEAR(found[0], 2500, 300);
  EXPECT_NEAR(found[1], 5000, 380);
  EXPECT_NEAR(found[2], 10000, 440);
}

TEST(Sample, TemperatureSharpensAndZeroTakesTheLikeliest) {
  // The square roots of 1, 2, 4, 1 sum to 5.41.
  EXPECT_NEAR(counts({.temperature = 2}, logits)[2], 20000 * 2 / 5.414, 440);
  EXPECT_EQ(counts({.temperature = 0}, logits)[2], 20000);
  EXPECT_EQ(counts({.temperature = 0}, {1, 1, 1, 1})[0], 20000);
}

TEST(Sample, TopPKeepsTheLikeliestThatReachIt) {
  const auto half = counts({.top_p = 0.5}, logits);
  EXPECT_EQ(half[2], 20000);
  const auto more = counts({.top_p = 0.51}, logits);
  EXPECT_NEAR(more[1], 20000 / 3.0, 420);
  EXPECT_EQ(more[0] + more[3], 0);
  // Of the equals 0 and 3 the lower is taken.
  EXPECT_EQ(counts({.top_p = 0.8}, logits)[3], 0);
  EXPECT_GT(counts({.top_p = 0.8}, logits)[0], 0);
}

TEST(Sample, TheSameSeedGivesTheSameText) {
  TokenSampler one({}, Rng(7));
  TokenSampler two({}, Rng(7));
  for (Position i = 0; i < 50; ++i) EXPECT_EQ(one.draw(logits, i), two.draw(logits, i));
}

}  // namespace
}  // namespace kv::model
