// A model whose layers are stored anew, in fewer bits.
#include "kvcheck/model/weights/store_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kvcheck/model/run/decoder.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/paths.h"

namespace kv::model {
namespace {

using testing::HasSubstr;
using Floats = std::vector<float>;

const std::vector<TokenId> some_tokens = {1, 7, 3, 30, 12, 5, 9, 9, 2, 31, 4, 18};

Floats logits_with(const std::string& folder, WeightFormat format) {
  LanguageModel model = open_model(folder).value();
  EXPECT_TRUE(store_weights(model, format));
  Decoder decoder = Decoder::create(model, parse_spec("dense").value()).value();
  EXPECT_TRUE(decoder.feed(some_tokens));
  return {decoder.logits().begin(), decoder.logits().end()};
}

double distance(const Floats& a, const Floats& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return most;
}

TEST(StoreWeights, KeepsTheResultsOfEveryFamilyNear) {
  using test::SmallModel;
  const std::vector<std::pair<std::string, SmallModel>> families = {
      {"q-llama", test::small_llama()},
      {"q-qwen2", test::small_qwen2()},
      {"q-neox", test::small_gpt_neox()},
      {"q-gpt2", test::small_gpt2()}};
  for (const auto& [name, family] : families) {
    const std::string folder = family.write(name, Number::f16);
    const Floats as_is = logits_with(folder, WeightFormat::as_is);
    EXPECT_EQ(logits_with(folder, WeightFormat::f32), as_is) << name;
    const double by_byte = distance(logits_with(folder, WeightFormat::int8), as_is);
    const double by_half = distance(logits_with(folder, WeightFormat::nf4), as_is);
    EXPECT_GT(by_byte, 0) << name;
    EXPECT_LT(by_byte, 0.1) << name;
    EXPECT_GT(by_half, 2 * by_byte) << name;
    EXPECT_LT(by_half, 2) << name;
  }
}

TEST(StoreWeights, CountsItsBytesAndLeavesTheTablesAlone) {
  const std::string folder = KVCHECK_SOURCE_DIR "/model/data";
  const LanguageModel before = open_model(folder).value();
  std::size_t weights = 0;
  for (const LayerWeights& layer : before.layers) {
    for (const Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.output, &layer.gate,
                                 &layer.up, &layer.down}) {
      weights += linear->weight.rows * linear->weight.columns;
    }
  }
  const std::size_t tables = before.weight_bytes() - 2 * weights;  // stored as f16
  LanguageModel bytes = open_model(folder).value();
  ASSERT_TRUE(store_weights(bytes, WeightFormat::int8));
  EXPECT_GT(bytes.weight_bytes(), tables + weights);
  EXPECT_LT(bytes.weight_bytes(), tables + weights + weights / 16);
  LanguageModel halves = open_model(folder).value();
  ASSERT_TRUE(store_weights(halves, WeightFormat::nf4));
  EXPECT_EQ(halves.weight_bytes(), tables + weights / 2 + 4 * (weights / 64));
  EXPECT_EQ(halves.embedding.number, before.embedding.number);
  EXPECT_EQ(halves.head.quantised, Quantisation::none);
  EXPECT_EQ(halves.layers[0].before_mlp.gain, before.layers[0].before_mlp.gain);
}

TEST(StoreWeights, RefusesNumbersThatAreNotFinite) {
  test::SmallModel small = test::small_llama();
  small.tensors["model.layers.1.mlp.up_proj.weight"].values[40] =
      std::numeric_limits<float>::infinity();
  LanguageModel model = open_model(small.write("q-infinite")).value();
  const auto stored = store_weights(model, WeightFormat::nf4);
  ASSERT_FALSE(stored);
  EXPECT_THAT(stored.error().message,
              HasSubstr("the up matrix of layer 1 has a number that is not finite"));
}

}  // namespace
}  // namespace kv::model
