#include "kvcheck/sim/replay/dense_facts.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace kv {
namespace {

DenseFacts facts_of(const std::vector<float>& mass) {
  DenseFactsSums sums(1);
  DenseRow row;
  row.query = static_cast<Position>(mass.size() - 1);
  row.mass = mass;
  sums.add(row, 1);
  return sums.mean(2, 3);
}

TEST(DenseFacts, AreThoseOfTheirDefinitions) {
  for (std::size_t n = 1; n < 200; ++n) {
    std::vector<float> mass(n);
    for (std::size_t i = 0; i < n; ++i) mass[i] = static_cast<float>(i % 3 == 1 ? 0 : 1 + i % 7);
    const float sum = std::accumulate(mass.begin(), mass.end(), 0.0F);
    for (float& share : mass) share /= sum;
    double sinks = 0;
    double recent = 0;
    double entropy = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto share = static_cast<double>(mass[i]);
      if (i < 4) sinks += share;
      if (i + 64 >= n) recent += share;
      if (share > 0) entropy -= share * std::log(share);
    }
    const DenseFacts facts = facts_of(mass);
    EXPECT_EQ(facts.layer, 2U);
    EXPECT_EQ(facts.head, 3U);
    EXPECT_DOUBLE_EQ(facts.first_mass, static_cast<double>(mass[0]));
    EXPECT_NEAR(facts.sinks_mass, sinks, 1e-6) << n;
    EXPECT_NEAR(facts.recent_mass, recent, 1e-6) << n;
    EXPECT_NEAR(facts.entropy, entropy, 1e-12) << n;
  }
}

TEST(DenseFacts, WeightsThatAreTinyAddTheirEntropy) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const auto share = static_cast<double>(tiny);
  EXPECT_NEAR(facts_of({tiny, 0, tiny}).entropy, -2 * share * std::log(share), 1e-50);
  EXPECT_EQ(facts_of({1, 0, 0}).entropy, 0);
}

}  // namespace
}  // namespace kv
