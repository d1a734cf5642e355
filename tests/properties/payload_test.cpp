#include "kvcheck/properties/cases/payload.h"

#include <cmath>
#include <limits>

#include "kvcheck/base/random/rng.h"

namespace kv::properties {
namespace {

constexpr Place place{.sequence = 3, .layer = 15, .head = 1};

TEST(Payload, KeysAndValuesSayWhoseTheyAre) {
  for (const PairLayout layout : {PairLayout::half_split, PairLayout::interleaved}) {
    for (const int position : {0, 1, 7, 100, 4097, 65535}) {
      const Token token{position, position % 256};
      const KeyVector key = encode_key(token, place, position % 5000, layout);
      const KeyReading reading = read_key(key, layout);
      EXPECT_EQ(reading.token, token);
      EXPECT_EQ(reading.place, place);
      EXPECT_EQ(reading.position, position % 5000);
      EXPECT_LT(reading.error, 1e-6);
      EXPECT_EQ(read_value(encode_value(token, place)).token, token);
      EXPECT_EQ(read_value(encode_value(token, place)).place, place);
    }
  }
}

TEST(Payload, TagsAndPositionsSurviveStorage) {
  for (const Precision precision : {Precision::f16, Precision::bf16, Precision::int8}) {
    const Rng rng(7);
    for (Position i = 0; i < 500; ++i) {
      const Token token{static_cast<int>(rng.below(65536, i)), static_cast<int>(i % 256)};
      const auto at = static_cast<double>(rng.below(8000, i, 1)) - 2000;
      KeyVector key = encode_key(token, place, at, PairLayout::half_split);
      ValueVector value = encode_value(token, place);
      store_as(key, precision);
      store_as(value, precision);
      const KeyReading reading = read_key(key, PairLayout::half_split);
      ASSERT_EQ(reading.token, token);
      ASSERT_EQ(reading.place, place);
      ASSERT_EQ(reading.position, at);
      ASSERT_LT(reading.error, precision == Precision::int8 ? 0.02 : 0.004);
      ASSERT_EQ(read_value(value).token, token);
    }
  }
}

TEST(Payload, GroupsHaveAStepEachAndAreOffByHalfOfIt) {
  for (const Precision precision : {Precision::int8, Precision::int4}) {
    const KeyVector key = encode_key({40000, 3}, place, 77, PairLayout::half_split);
    KeyVector stored = key;
    const std::vector<float> steps = store_in_groups(stored, precision);
    ASSERT_EQ(steps.size(), 3U);
    float furthest = 0;
    for (std::size_t i = 0; i < key_size; ++i) {
      const float off = std::abs(stored[i] - key[i]) / steps[i / payload_group];
      ASSERT_LE(off, 0.5001F);
      furthest = std::max(furthest, off);
    }
    EXPECT_GT(furthest, 0.3F);
    ValueVector nothing{};
    EXPECT_EQ(store_in_groups(nothing, precision), (std::vector<float>{0, 0}));
    EXPECT_EQ(nothing, ValueVector{});
  }
}

TEST(Payload, RotationMovesThePositionAndNothingElse) {
  KeyVector key = encode_key({9, 0}, place, 4, PairLayout::interleaved);
  rotate_key(key, 30, PairLayout::interleaved);
  rotate_key(key, -36, PairLayout::interleaved);
  const KeyReading reading = read_key(key, PairLayout::interleaved);
  EXPECT_EQ(reading.token, (Token{9, 0}));
  EXPECT_EQ(reading.position, -2);
  EXPECT_LT(reading.error, 1e-6);
}

TEST(Payload, RotationByTheWrongLayoutIsFoundOut) {
  KeyVector key = encode_key({9, 0}, place, 4, PairLayout::interleaved);
  rotate_key(key, 30, PairLayout::half_split);
  EXPECT_GT(read_key(key, PairLayout::interleaved).error, 0.1);
}

TEST(Payload, AScaledKeyIsRecognisedAndWrong) {
  KeyVector key = encode_key({9, 0}, place, 4, PairLayout::half_split);
  for (float& x : key) x *= 1.2F;
  const KeyReading reading = read_key(key, PairLayout::half_split);
  EXPECT_EQ(reading.token, (Token{9, 0}));
  EXPECT_NEAR(reading.error, 0.2, 1e-3);
}

TEST(Payload, APositionBetweenWholeNumbersIsReportedAsItIs) {
  const KeyVector key = encode_key({9, 0}, place, 4.5, PairLayout::half_split);
  EXPECT_NEAR(read_key(key, PairLayout::half_split).position, 4.5, 1e-4);
}

TEST(Payload, GarbageIsNobodys) {
  KeyVector key{};
  ValueVector value{};
  EXPECT_EQ(read_key(key, PairLayout::half_split).token.position, -1);
  EXPECT_EQ(read_value(value).token.position, -1);
  key.fill(std::numeric_limits<float>::quiet_NaN());
  value.fill(std::numeric_limits<float>::infinity());
  EXPECT_EQ(read_key(key, PairLayout::half_split).token.position, -1);
  EXPECT_EQ(read_value(value).token.position, -1);
  const Rng rng(1);
  int taken = 0;
  for (Position i = 0; i < 2000; ++i) {
    for (std::uint32_t j = 0; j < key_size; ++j) {
      key[j] = static_cast<float>(rng.normal(i, j));
    }
    taken += read_key(key, PairLayout::half_split).token.position >= 0 ? 1 : 0;
  }
  EXPECT_LE(taken, 8);
}

TEST(Payload, TheMeanOfTwoValuesIsNobodys) {
  const ValueVector a = encode_value({4, 0}, place);
  const ValueVector b = encode_value({9, 0}, place);
  ValueVector mean{};
  for (std::size_t i = 0; i < value_size; ++i) mean[i] = (a[i] + b[i]) / 2;
  EXPECT_EQ(read_value(mean).token.position, -1);
}

}  // namespace
}  // namespace kv::properties
