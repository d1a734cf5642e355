// Which tensor of the files becomes which weight of the model.
#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using test::SmallModel;

SmallModel renamed(SmallModel small, const std::string& from, const std::string& to) {
  small.tensors[to] = small.tensors.at(from);
  small.tensors.erase(from);
  return small;
}

// A file of safetensors keeps one name of a shared tensor.
TEST(Binding, ATiedModelMayStoreItsMatrixAsTheOutputLayerAlone) {
  const SmallModel qwen2 =
      renamed(test::small_qwen2(), "model.embed_tokens.weight", "lm_head.weight");
  const LanguageModel model = open_model(qwen2.write("model")).value();
  std::vector<float> row(16);
  kernels().widen(model.embedding.number, model.embedding.row(3), 16, row.data());
  EXPECT_EQ(row[5], qwen2.tensors.at("lm_head.weight").values[3 * 16 + 5]);
  EXPECT_EQ(model.head.data, model.embedding.data);
  const SmallModel gpt2 = renamed(test::small_gpt2(), "wte.weight", "lm_head.weight");
  EXPECT_TRUE(open_model(gpt2.write("model")));
}

TEST(Binding, AnUntiedModelNeedsItsEmbedding) {
  const SmallModel llama =
      renamed(test::small_llama(), "model.embed_tokens.weight", "lm_head.weight");
  const auto opened = open_model(llama.write("model"));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message,
              testing::HasSubstr("has no tensor 'model.embed_tokens.weight'"));
}

// Before memory is taken for them.
TEST(Binding, MoreLayersThanTensorsAreRefused) {
  SmallModel llama = test::small_llama();
  llama.set(R"("num_hidden_layers":2)", R"("num_hidden_layers":65536)");
  const auto opened = open_model(llama.write("model"));
  ASSERT_FALSE(opened);
  EXPECT_THAT(
      opened.error().message,
      testing::HasSubstr("has 65536 layers and 21 tensors; expected at least one for each"));
}

}  // namespace
}  // namespace kv::model
