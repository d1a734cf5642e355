#include "kvcheck/sim/replay/dense_rows.h"

#include <limits>

#include "kvcheck/sim/replay/replay.h"
#include "kvcheck/tests/sim/memory_trace.h"

namespace kv {
namespace {

std::string error_of(const Trace& trace) {
  const Cell cell = {*parse_spec("window:recent=4"), 1};
  const Result<ReplayResult> result = replay(trace, {&cell, 1}, {});
  EXPECT_FALSE(result);
  return result ? "" : result.error().message;
}

// A good trace but for one number of layer 1, head 2.
Trace spoiled(std::size_t query, std::size_t key, float value) {
  MemoryShape shape;
  auto floats = std::make_shared<Floats>();
  const std::size_t n = shape.tokens;
  std::vector<Trace::Layer> layers(2);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    layers[layer].attention = floats->tensor({4, n, n}, [&](std::size_t i) {
      const std::size_t row = i / n % n;
      if (layer == 1 && i == (2 * n + query) * n + key) return value;
      return i % n > row ? 0.0F : 1.0F / static_cast<float>(row + 1);
    });
  }
  return {memory_info(shape, TraceKind::attention), std::move(layers), {}, floats};
}

TEST(DenseRows, NameTheRowThatDoesNotSumToOne) {
  EXPECT_EQ(error_of(spoiled(9, 3, 0.35F)),
            "'memory': layer 1, head 2, query 9: the weights up to the diagonal sum to 1.25; "
            "expected 1");
  // Not 1.0069999694824219.
  EXPECT_THAT(error_of(spoiled(9, 3, 0.107F)),
              testing::ContainsRegex("sum to 1\\.00[67][0-9]{0,5}; expected 1"));
}

TEST(DenseRows, NameTheRowWithANaNOrAnInfinity) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_NE(error_of(spoiled(5, 0, bad)).find("layer 1, head 2, query 5"), std::string::npos);
  }
}

TEST(DenseRows, NameTheNegativeWeight) {
  MemoryShape shape;
  shape.tokens = 4;
  auto floats = std::make_shared<Floats>();
  const std::vector<float> rows = {1,     0,     0,     0, 0.5F,  0.5F,  0,     0,
                                   0.75F, -0.5F, 0.75F, 0, 0.25F, 0.25F, 0.25F, 0.25F};
  std::vector<Trace::Layer> layers(2);
  for (Trace::Layer& layer : layers) {
    layer.attention = floats->tensor({4, 4, 4}, [&](std::size_t i) { return rows[i % 16]; });
  }
  const Trace trace(memory_info(shape, TraceKind::attention), std::move(layers), {}, floats);
  EXPECT_NE(error_of(trace).find("query 2: the weight of key 1 is -0.5; expected none below 0"),
            std::string::npos);
}

TEST(DenseRows, NameTheWeightAboveTheDiagonal) {
  EXPECT_NE(error_of(spoiled(5, 30, 0.25F))
                .find("query 5: the weight of key 30 is 0.25; expected 0 above the diagonal"),
            std::string::npos);
  EXPECT_NE(error_of(spoiled(5, 6, std::numeric_limits<float>::quiet_NaN())).find("key 6 is NaN"),
            std::string::npos);
}

TEST(DenseRows, TakeMinusZeroAboveTheDiagonalForZero) {
  const Trace trace = spoiled(5, 30, -0.0F);
  const Cell cell = {*parse_spec("window:recent=4"), 1};
  EXPECT_TRUE(replay(trace, {&cell, 1}, {}));
}

TEST(DenseRows, NameTheRowWhoseValuesAreNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    MemoryShape shape;
    auto floats = std::make_shared<Floats>();
    std::vector<Trace::Layer> layers(2);
    for (Trace::Layer& layer : layers) {
      layer.q = floats->tensor({4, 40, 8}, [](std::size_t) { return 1.0F; });
      layer.k = floats->tensor({2, 40, 8}, [](std::size_t) { return 1.0F; });
      layer.v = floats->tensor({2, 40, 8}, [&](std::size_t i) { return i == 56 ? bad : 1.0F; });
    }
    const Trace trace(memory_info(shape, TraceKind::qkv), std::move(layers), {}, floats);
    EXPECT_NE(error_of(trace).find("query 7: the attention output is not finite"),
              std::string::npos);
  }
}

TEST(DenseRows, NameTheRowWhoseProductsAreNotFinite) {
  MemoryShape shape;
  auto floats = std::make_shared<Floats>();
  std::vector<Trace::Layer> layers(2);
  for (Trace::Layer& layer : layers) {
    layer.q = floats->tensor({4, 40, 8}, [](std::size_t) { return 1.0F; });
    layer.k = floats->tensor({2, 40, 8}, [](std::size_t i) {
      return i == 88 ? std::numeric_limits<float>::infinity() : 1.0F;
    });
    layer.v = floats->tensor({2, 40, 8}, [](std::size_t) { return 1.0F; });
  }
  const Trace trace(memory_info(shape, TraceKind::qkv), std::move(layers), {}, floats);
  EXPECT_NE(error_of(trace).find("query 11: a product of q and k is not finite"),
            std::string::npos);
}

// The sum of these products is too large for f32, and each of them is not.
TEST(DenseRows, MayHaveHugeProducts) {
  MemoryShape shape;
  auto floats = std::make_shared<Floats>();
  const std::size_t dim = shape.head_dim;
  const auto huge = [&](std::size_t i) { return i % dim == dim - 1 ? 1e19F : 0.0F; };
  std::vector<Trace::Layer> layers(2);
  for (Trace::Layer& layer : layers) {
    layer.q = floats->tensor({4, shape.tokens, dim}, huge);
    layer.k = floats->tensor({2, shape.tokens, dim}, huge);
    layer.v = floats->tensor({2, shape.tokens, dim}, [](std::size_t) { return 1.0F; });
  }
  TraceInfo info = memory_info(shape, TraceKind::qkv);
  info.rope.dims = dim - 2;
  const Trace trace(info, std::move(layers), {}, floats);
  const Cell cell = {*parse_spec("window:recent=4"), 1};
  const Result<ReplayResult> result = replay(trace, {&cell, 1}, {});
  EXPECT_TRUE(result) << result.error().message;
}

}  // namespace
}  // namespace kv
