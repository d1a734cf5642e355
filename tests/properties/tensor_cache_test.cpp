// Caches of tensors in C++: a right one of head_dim 64 in f16 without padding, and wrong ones.
#include "kvcheck/properties/conformance/tensor_cache.h"

#include <kvcheck/examples/tensors/sink_tensors.h>  // an example, and no room
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/cases/tensor_rows.h"

namespace kv::properties {
namespace {

using testing::Contains;

void see_all(Contract& contract) {
  contract.visibility = Visibility::causal;
}

// The ids of the laws that the family breaks.
template <typename Cache>
std::vector<std::string> broken_laws(const TensorFormat& format) {
  BatteryOptions options;
  options.shrink = false;
  const auto report = run_battery(*tensor_family<Cache>("tensors", format, see_all), options);
  EXPECT_TRUE(report) << report.error().message;
  std::vector<std::string> ids;
  for (const LawResult& result : report->laws) {
    if (result.status == Status::broken) ids.emplace_back(result.law->id);
  }
  return ids;
}

constexpr TensorFormat half = {.head_dim = 64, .type = Number::f16};

TEST(TensorCache, ARightCacheInHalfPrecisionWithoutPaddingBreaksNoLaw) {
  EXPECT_THAT(broken_laws<SinkTensors>(half), testing::IsEmpty());
}

// Values move one row less than keys.
struct ValuesBehind final : SinkTensors {
  using SinkTensors::SinkTensors;

  void trim(Layer& layer, std::size_t budget) const override {
    if (layer.rows <= budget) return;
    cut(layer.keys, layer.rows, setup_.sinks, layer.rows - budget);
    cut(layer.values, layer.rows, setup_.sinks + 1, layer.rows - budget);
    layer.rows = budget;
  }
};

TEST(TensorCache, ValuesThatAreCutARowBehindTheirKeysAreFound) {
  EXPECT_THAT(broken_laws<ValuesBehind>(half), Contains("row.pairing"));
}

// The strides of keys are those of a single head.
struct HeadStrideOfOne final : SinkTensors {
  using SinkTensors::SinkTensors;

  [[nodiscard]] KeysAndValues view(const Layer& layer) const override {
    KeysAndValues out = SinkTensors::view(layer);
    out.keys.head_stride = 0;
    return out;
  }
};

TEST(TensorCache, KeysReadWithAnotherHeadsStrideAreFound) {
  EXPECT_THAT(broken_laws<HeadStrideOfOne>(half), Contains("row.place"));
}

class TensorRowsRead : public testing::TestWithParam<std::tuple<std::size_t, Number, bool>> {};

TEST_P(TensorRowsRead, SayWhichTokenTheyHoldInEveryTypeAndSize) {
  const auto [dim, type, interleaved] = GetParam();
  const TensorFormat format{.head_dim = dim, .type = type, .interleaved = interleaved};
  const TensorRows rows(format);
  std::vector<float> key(rows.key_size());
  std::vector<float> value(rows.value_size());
  std::vector<std::byte> bytes(key.size() * bytes_of(type));
  for (std::int32_t i = 0; i < 300; ++i) {
    const Token token{i * 29 % 9000, i % 256};
    const auto n = static_cast<std::uint32_t>(i);
    const Place place{n % 16, n / 3 % 16, n / 7 % 16};
    rows.encode_key(token, place, token.position, key);
    write_numbers(key, type, bytes.data());
    read_numbers(bytes.data(), type, key);
    const KeyReading of_key = rows.read_key(key);
    EXPECT_EQ(of_key.token, token);
    EXPECT_EQ(of_key.place, place);
    EXPECT_EQ(of_key.position, token.position);
    EXPECT_LT(of_key.error, type == Number::bf16 ? 4e-3 : 5e-4);
    rows.encode_value(token, place, value);
    write_numbers(value, type, bytes.data());
    read_numbers(bytes.data(), type, value);
    EXPECT_EQ(rows.read_value(value).token, token);
    EXPECT_EQ(rows.read_value(value).place, place);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         TensorRowsRead,
                         testing::Combine(testing::Values(16, 24, 64, 80, 128, 256),
                                          testing::Values(Number::f32, Number::f16, Number::bf16),
                                          testing::Bool()));

// The first half of one row and the second half of another.
TEST(TensorRows, ARowThatIsPartlyAnothersIsNoTokens) {
  const TensorRows rows({.head_dim = 64});
  std::vector<float> one(64);
  std::vector<float> other(64);
  rows.encode_value({5, 0}, {}, one);
  rows.encode_value({6, 0}, {}, other);
  std::copy(other.begin() + 32, other.end(), one.begin() + 32);
  EXPECT_EQ(rows.read_value(one).token, Token{});
}

TEST(TensorRows, SizesWithoutRoomForATagAreRefusedInASentence) {
  EXPECT_THAT(wrong_format({.head_dim = 15}), testing::HasSubstr("head_dim is 15"));
  EXPECT_THAT(wrong_format({.head_dim = 64, .value_dim = 7}), testing::HasSubstr("value_dim is 7"));
  EXPECT_EQ(wrong_format({.head_dim = 16, .value_dim = 8}), "");
}

}  // namespace
}  // namespace kv::properties
