#include "kvcheck/sim/cache/page_selection.h"

#include <algorithm>

#include "kvcheck/base/kernels/kernels.h"
#include "kvcheck/base/random/rng.h"

namespace kv {
namespace {

using testing::ElementsAre;

std::vector<Position> positions_of(const Visible& visible) {
  std::vector<Position> all(visible.middle.begin(), visible.middle.end());
  for (Position p = visible.recent.first; p < visible.recent.last; ++p) all.push_back(p);
  EXPECT_EQ(visible.sinks.size(), 0U);
  EXPECT_EQ(visible.size(), all.size());
  return all;
}

// Keys of one number each.
PageChoice of_numbers(const TopPages& sizes, const std::vector<float>& keys) {
  PageChoice choice(sizes, 1);
  for (const float key : keys) choice.add(&key);
  return choice;
}

std::vector<float> normals(std::size_t count, std::uint32_t stream) {
  const Rng rng(5, stream);
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(rng.normal(static_cast<Position>(i)));
  }
  return out;
}

TEST(PageChoice, BoundsEveryLogitOfThePageAlsoAfterRounding) {
  for (const std::size_t dim : {1U, 3U, 16U, 31U, 64U}) {
    for (const std::uint32_t page : {1U, 2U, 5U}) {
      PageChoice choice({.attended = page, .page = page, .dense_layers = 0}, dim);
      const std::vector<float> keys = normals(20 * dim, 1);
      for (std::size_t i = 0; i < 20; ++i) choice.add(keys.data() + i * dim);
      for (std::uint32_t q = 0; q < 40; ++q) {
        const std::vector<float> query = normals(dim, 2 + q);
        for (std::size_t i = 0; i < 20; ++i) {
          float logit = 0;
          kernels().dot_rows(query.data(), keys.data() + i * dim, 1, dim, 1.0F, &logit);
          const float bound = choice.bound(i / page, query.data());
          EXPECT_GE(bound, logit) << dim << " " << page;
          if (page > 1) continue;
          EXPECT_EQ(bound, logit);
        }
      }
    }
  }
}

TEST(PageChoice, TakesTheLargerProductOfEachChannel) {
  PageChoice choice({.attended = 2, .page = 2, .dense_layers = 0}, 2);
  choice.add(std::array{1.0F, -2.0F}.data());
  choice.add(std::array{-3.0F, 5.0F}.data());
  EXPECT_EQ(choice.bound(0, std::array{1.0F, 1.0F}.data()), 1 + 5);
  EXPECT_EQ(choice.bound(0, std::array{-2.0F, -1.0F}.data()), 6 + 2);
  EXPECT_EQ(choice.bound(0, std::array{0.0F, 0.0F}.data()), 0);
}

TEST(PageChoice, AttendsToTheHighestBoundsAndToItsOwnPageUpToItself) {
  const float up = 1;
  const float down = -1;
  // Pages of two; their greatest numbers are 3 9 5 0, their least 1 2 -7 0.
  PageChoice choice = of_numbers({.attended = 6, .page = 2, .dense_layers = 0},
                                 {3, 1, 2, 9, 5, -7, 0, 0, -50, -50});
  EXPECT_THAT(positions_of(choice.select(&up, 8)), ElementsAre(2, 3, 4, 5, 8));
  EXPECT_THAT(positions_of(choice.select(&down, 9)), ElementsAre(4, 5, 6, 7, 8, 9));
  EXPECT_THAT(positions_of(choice.select(&up, 7)), ElementsAre(2, 3, 4, 5, 6, 7));
}

TEST(PageChoice, PrefersTheNewerAmongEquals) {
  const float up = 1;
  PageChoice choice = of_numbers({.attended = 3, .page = 1, .dense_layers = 0}, {1, 4, 4, 4, 1, 0});
  EXPECT_THAT(positions_of(choice.select(&up, 5)), ElementsAre(2, 3, 5));
}

TEST(PageChoice, OfOnePageIsTheOwnPage) {
  const float up = 1;
  PageChoice choice =
      of_numbers({.attended = 3, .page = 3, .dense_layers = 0}, {9, 9, 9, 9, 9, 9, 0, 0});
  EXPECT_THAT(positions_of(choice.select(&up, 6)), ElementsAre(6));
  EXPECT_THAT(positions_of(choice.select(&up, 7)), ElementsAre(6, 7));
}

TEST(PageChoice, IsEverythingAsOneRunWhereAllFits) {
  const float up = 1;
  PageChoice choice = of_numbers({.attended = 6, .page = 2, .dense_layers = 0}, {1, 2, 3, 4, 5, 6});
  for (Position query = 0; query < 6; ++query) {
    const Visible visible = choice.select(&up, query);
    EXPECT_EQ(visible.middle.size(), 0U);
    EXPECT_EQ(visible.recent.first, 0U);
    EXPECT_EQ(visible.recent.last, query + 1);
  }
}

// Keys of later tokens of a chunk may be there already.
TEST(PageChoice, IsNotChangedByKeysBehindTheQuery) {
  const TopPages sizes{.attended = 4, .page = 2, .dense_layers = 0};
  const std::vector<float> keys = normals(20, 9);
  PageChoice all = of_numbers(sizes, keys);
  PageChoice grown(sizes, 1);
  for (Position query = 0; query < 20; ++query) {
    grown.add(&keys[query]);
    for (const float q : {1.0F, -1.0F}) {
      EXPECT_EQ(positions_of(all.select(&q, query)), positions_of(grown.select(&q, query)));
    }
  }
}

TEST(PageChoice, AttendsToAsManyAsItsSizesSay) {
  for (const TopPages sizes : {TopPages{4, 2, 0}, TopPages{5, 5, 0}, TopPages{3, 1, 0}}) {
    PageChoice choice(sizes, 1);
    const float up = 1;
    std::size_t most = 0;
    for (Position query = 0; query < 23; ++query) {
      choice.add(&up);
      const std::size_t size = choice.select(&up, query).size();
      EXPECT_EQ(size, attended_by(sizes, query));
      most = std::max(most, size);
    }
    EXPECT_EQ(most, sizes.attended);
  }
}

TEST(PageChoice, TakesABoundThatOverflowsBothWaysForTheHighest) {
  PageChoice choice({.attended = 2, .page = 1, .dense_layers = 0}, 2);
  for (const auto& key : {std::array{3e38F, -3e38F}, std::array{1.0F, 1.0F}, std::array{1.0F, 2.0F},
                          std::array{0.0F, 0.0F}}) {
    choice.add(key.data());
  }
  EXPECT_THAT(positions_of(choice.select(std::array{1e3F, 1e3F}.data(), 3)), ElementsAre(0, 3));
}

}  // namespace
}  // namespace kv
