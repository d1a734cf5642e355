// A model whose layers are stored anew, in fewer bits.
#include "kvcheck/model/codes/store_weights.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

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

class KeptCodesBeside : public testing::TestWithParam<WeightFormat> {
 protected:
  KeptCodesBeside() : folder_(test::small_gpt_neox().write("q-kept", Number::f16)) {}

  // A model whose codes are kept, as it is opened; `taken`: whether what was kept is used.
  LanguageModel stored(bool& taken, const std::string& path) const {
    LanguageModel model = open_model(folder_).value();
    const std::size_t files = model.files.size();
    EXPECT_TRUE(store_weights(model, GetParam(), {.path = path, .smallest = 1}));
    taken = model.files.size() > files;
    EXPECT_TRUE(model.unchanged());
    return model;
  }

  [[nodiscard]] bool taken() const {
    bool taken = false;
    const LanguageModel model = stored(taken, folder_);
    Decoder decoder = Decoder::create(model, parse_spec("dense").value()).value();
    EXPECT_TRUE(decoder.feed(some_tokens));
    const Floats logits(decoder.logits().begin(), decoder.logits().end());
    EXPECT_EQ(logits, logits_with(folder_, GetParam()));
    return taken;
  }

  // The file, with `change` done to its bytes.
  void change(const std::function<void(std::string&)>& change) const {
    std::string bytes = test::bytes_of_file(file());
    change(bytes);
    ASSERT_TRUE(write_file(file(), bytes));
  }

  [[nodiscard]] std::string file() const {
    return folder_ +
           (GetParam() == WeightFormat::int8 ? "/kvcheck-int8.weights" : "/kvcheck-nf4.weights");
  }

  std::string folder_;
};

TEST_P(KeptCodesBeside, AreTakenTheSecondTime) {
  EXPECT_FALSE(taken());
  EXPECT_THAT(test::bytes_of_file(file()), HasSubstr("kvcheck weights, rule 1, as "));
  EXPECT_TRUE(taken());
}

TEST_P(KeptCodesBeside, AreMadeAnewIfTheFileIsDamagedOrShort) {
  EXPECT_FALSE(taken());
  change([](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); });
  EXPECT_FALSE(taken());
  EXPECT_TRUE(taken());
  change([](std::string& bytes) { bytes.resize(bytes.size() / 2); });
  EXPECT_FALSE(taken());
  change([](std::string& bytes) { bytes.resize(64); });
  EXPECT_FALSE(taken());
  change([](std::string& bytes) { bytes[20] = '7'; });
  EXPECT_FALSE(taken());
  change([](std::string& bytes) { bytes.clear(); });
  EXPECT_FALSE(taken());
  EXPECT_TRUE(taken());
}

TEST_P(KeptCodesBeside, AreMadeAnewIfTheModelChanged) {
  EXPECT_FALSE(taken());
  const std::string weights = folder_ + "/model.safetensors";
  std::string bytes = test::bytes_of_file(weights);
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);
  ASSERT_TRUE(write_file(weights, bytes));
  EXPECT_FALSE(taken());
  EXPECT_TRUE(taken());
}

// Fused matrices are split by heads, so other heads make other codes of the same file.
TEST_P(KeptCodesBeside, AreMadeAnewIfTheConfigurationSplitsOtherwise) {
  EXPECT_FALSE(taken());
  std::string config = test::bytes_of_file(folder_ + "/config.json");
  const std::string before = "\"num_attention_heads\":2";
  ASSERT_NE(config.find(before), std::string::npos);
  config.replace(config.find(before), before.size(), "\"num_attention_heads\":1");
  ASSERT_TRUE(write_file(folder_ + "/config.json", config));
  EXPECT_FALSE(taken());
}

TEST_P(KeptCodesBeside, DoWithoutAFileThatCannotBeWritten) {
  bool taken = true;
  const LanguageModel model = stored(taken, folder_ + "/nowhere/model.gguf");
  EXPECT_FALSE(taken);
  EXPECT_NE(model.layers[0].query.weight.quantised, Quantisation::none);
}

TEST_P(KeptCodesBeside, AreNotKeptOfASmallModel) {
  LanguageModel model = open_model(folder_).value();
  ASSERT_TRUE(store_weights(model, GetParam(), {.path = folder_}));
  EXPECT_FALSE(std::filesystem::exists(file()));
}

INSTANTIATE_TEST_SUITE_P(All,
                         KeptCodesBeside,
                         testing::Values(WeightFormat::int8, WeightFormat::nf4));

}  // namespace
}  // namespace kv::model
