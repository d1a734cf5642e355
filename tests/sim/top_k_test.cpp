#include "kvcheck/sim/replay/top_k.h"

#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

namespace kv {
namespace {

std::vector<Position> by_sorting(const std::vector<float>& values, std::size_t k) {
  std::vector<Position> order(values.size());
  std::iota(order.begin(), order.end(), Position{0});
  std::ranges::stable_sort(order, [&](Position a, Position b) { return values[a] > values[b]; });
  order.resize(std::min(k, order.size()));
  std::erase_if(order, [&](Position at) { return values[at] == 0; });
  std::ranges::sort(order);
  return order;
}

TEST(TopK, AgreesWithSortingOverRowsThatGrow) {
  EXPECT_TRUE(rc::check([] {
    const auto k = *rc::gen::inRange<std::size_t>(1, 9);
    const auto levels = *rc::gen::inRange(1, 12);
    TopK top(k);
    std::vector<float> row;
    for (int n = 1; n <= 60; ++n) {
      // Few levels give many ties; now and then the whole row changes.
      row.push_back(static_cast<float>(*rc::gen::inRange(0, levels)));
      if (n % 17 == 0) {
        for (float& value : row) value = static_cast<float>(*rc::gen::inRange(0, levels));
      }
      const auto found = top.find(row);
      RC_ASSERT(std::vector<Position>(found.begin(), found.end()) == by_sorting(row, k));
    }
  }));
}

TEST(TopK, LeavesOutTheKeyThatWeighsNothing) {
  TopK top(3);
  EXPECT_THAT(top.find(std::vector<float>{0, 1, 0, 0, 0.5F}), testing::ElementsAre(1, 4));
  EXPECT_THAT(top.find(std::vector<float>{0, 1}), testing::ElementsAre(1));
  EXPECT_THAT(top.find(std::vector<float>{1, 2, 0, 3, 4}), testing::ElementsAre(1, 3, 4));
}

TEST(TopK, DoesNotDependOnTheRowsBefore) {
  TopK fresh(3);
  TopK used(3);
  used.find(std::vector<float>{9, 8, 7, 6, 5, 4, 3});
  const std::vector<float> row = {0, 0, 1, 0, 0.5F, 0, 0.25F};
  const auto a = fresh.find(row);
  const auto b = used.find(row);
  EXPECT_EQ(std::vector<Position>(a.begin(), a.end()), std::vector<Position>(b.begin(), b.end()));
}

}  // namespace
}  // namespace kv
