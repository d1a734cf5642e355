#include "kvcheck/properties/cases/token_inputs.h"

#include <cmath>

namespace kv::properties {
namespace {

constexpr Token token = {5, 0};

TokenInputs of(const Stream& stream, const std::vector<InputUnit>& units, Token at = token) {
  return token_inputs(stream, units, at);
}

TEST(TokenInputs, HasAVectorOfEachKindForEachHead) {
  const kv::properties::Setup setup{.layers = 1, .kv_heads = 2, .group = 3};
  const std::vector<InputUnit> layer = {input_unit({0, 0, 0}, Unit::layer, setup),
                                        input_unit({0, 0, 1}, Unit::layer, setup)};
  const TokenInputs own = of({}, layer);
  EXPECT_EQ(own.keys.size(), 2 * input_dim);
  EXPECT_EQ(own.values.size(), 2 * input_dim);
  EXPECT_EQ(own.queries.size(), 6 * input_dim);
  EXPECT_NE(own.keys, own.values);
  for (const float number : own.queries) {
    EXPECT_EQ(number * 8, std::floor(number * 8));
    EXPECT_TRUE(number >= -4 && number < 4) << number;
  }
}

TEST(TokenInputs, DiffersByStreamTokenAndPlace) {
  const InputUnit unit{.place = {0, 0, 0}};
  const TokenInputs own = of({}, {unit});
  EXPECT_EQ(of({}, {unit}), own);
  EXPECT_NE(of({.seed = 1}, {unit}).keys, own.keys);
  EXPECT_NE(of({}, {unit}, {6, 0}).keys, own.keys);
  EXPECT_NE(of({}, {unit}, {5, 1}).keys, own.keys);
  for (const Place& other : {Place{1, 0, 0}, Place{0, 1, 0}, Place{0, 0, 1}}) {
    EXPECT_NE(of({}, {{.place = other}}).keys, own.keys);
  }
}

TEST(TokenInputs, FollowsWhatTheStreamDoesToItsPayers) {
  const InputUnit second{.place = {1, 0, 0}, .first = 0, .heads = 2};
  const InputUnit first{.place = {0, 0, 0}, .first = 0, .heads = 2};
  EXPECT_EQ(of({.first_sequence = 1}, {first}), of({}, {second}));
  // Heads 0 and 1 of a mirrored group change places; what they share does not.
  const TokenInputs own = of({}, {first});
  const TokenInputs mirrored = of({.mirrored_group = 2}, {first});
  EXPECT_EQ(mirrored.keys, own.keys);
  std::vector<float> swapped(own.queries.begin() + input_dim, own.queries.end());
  swapped.insert(swapped.end(), own.queries.begin(), own.queries.begin() + input_dim);
  EXPECT_EQ(mirrored.queries, swapped);
}

TEST(TokenInputs, IsAlikeForAllInAStreamOfTies) {
  const Stream ties{.kind = StreamKind::ties};
  const TokenInputs own = of(ties, {{.place = {0, 0, 0}}});
  EXPECT_EQ(of(ties, {{.place = {1, 2, 3}}}, {9, 1}), own);
  EXPECT_EQ(of({.kind = StreamKind::ties, .seed = 4}, {{.place = {0, 0, 0}}}), own);
}

// A unit of a query head reads the key of the kv-head that its group shares.
TEST(TokenInputs, GivesQueryHeadsTheKeysOfTheirGroup) {
  const kv::properties::Setup setup{.layers = 1, .kv_heads = 2, .group = 2};
  const InputUnit third = input_unit({0, 0, 3}, Unit::head, setup);
  EXPECT_EQ(third.place.head, 1U);
  EXPECT_EQ(third.first, 3U);
  const InputUnit whole = input_unit({0, 0, 1}, Unit::kv_head, setup);
  EXPECT_EQ(of({}, {third}).keys, of({}, {whole}).keys);
}

}  // namespace
}  // namespace kv::properties
