#include "kvcheck/policies/attention/criticalkv.h"

#include "kvcheck/tests/policies/feed.h"

namespace kv {
namespace {

using Kept = std::vector<Position>;

// Two of the tokens 0 to 2 are kept; the last query pays them .3, .2 and .1.
Kept kept_by(double first, const std::vector<std::vector<float>>& values) {
  const auto policy = make_criticalkv({.window = 1, .kernel = 1, .first = first});
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 2};
  for (const std::vector<float>& value : values) {
    std::vector<float> mass(cache.residents.size() + 1, 0);
    mass[0] = 1;
    if (&value == &values.back()) mass = {0.3F, 0.2F, 0.1F, 0.4F};
    feed(cache, *policy, draws, {.mass = mass, .values = {value, 2}});
  }
  return cache.residents;
}

// The products with the 1-norms of values 1, 1 and 7 are .3, .2 and .7.
TEST(Criticalkv, FillsTheSecondHalfByAttentionTimesValue) {
  const std::vector<std::vector<float>> values = {{1, 0}, {0, 1}, {3, -4}, {0, 0}};
  EXPECT_EQ(kept_by(1, values), (Kept{0, 1, 3}));
  EXPECT_EQ(kept_by(0.5, values), (Kept{0, 2, 3}));
}

// A value of length 0 makes the heaviest token worthless, but the first stage keeps it.
TEST(Criticalkv, KeepsTheFirstHalfWhateverItsValue) {
  const std::vector<std::vector<float>> values = {{0, 0}, {0, 1}, {3, -4}, {0, 0}};
  EXPECT_EQ(kept_by(0.5, values), (Kept{0, 2, 3}));
  EXPECT_EQ(kept_by(0, values), (Kept{1, 2, 3}));
}

// Sizes after the output projection replace the values'. Their means over heads are 1, 4 and 7.
TEST(Criticalkv, TakesTheSizesAfterTheOutputProjectionWhereThereAreAny) {
  const auto policy = make_criticalkv({.window = 1, .kernel = 1, .first = 0});
  ScriptedDraws draws;
  MiniCache cache{.recent = 1, .capacity = 1};
  const std::vector<float> value = {9, 9};
  const std::vector<std::vector<float>> norms = {{1, 1}, {8, 0}, {7, 7}};
  feed(cache, *policy, draws,
       {.mass = std::vector<float>{1}, .values = {value, 2}, .output_norms = norms[0]});
  feed(cache, *policy, draws,
       {.mass = std::vector<float>{0, 1}, .values = {value, 2}, .output_norms = norms[1]});
  feed(cache, *policy, draws,
       {.mass = std::vector<float>{.6F, .2F, .2F}, .values = {value, 2}, .output_norms = norms[2]});
  // .6 * 1 is less than .2 * 4.
  EXPECT_EQ(cache.residents, (Kept{1, 2}));
}

// A share of .4 of two places is none.
TEST(Criticalkv, RoundsTheFirstShareDown) {
  const std::vector<std::vector<float>> values = {{0, 0}, {0, 1}, {3, -4}, {0, 0}};
  EXPECT_EQ(kept_by(0.4, values), (Kept{1, 2, 3}));
}

}  // namespace
}  // namespace kv
