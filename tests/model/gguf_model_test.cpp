// GGUF files against forward passes in NumPy over the weights that they stand for: every family
// that they can hold, every kind of rotation, every quantisation.
#include "kvcheck/model/codes/store_weights.h"
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/gguf_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

constexpr double rounding = 2e-6;

std::vector<NumpyCase> cases() {
  return {
      {.spec = "dense", .bound = rounding, .tokens = 48},
      {.spec = "dense;chunk=7", .bound = rounding, .tokens = 48},
      {.spec = "streaming:sinks=2,recent=9;positions=in-cache", .bound = rounding, .tokens = 48}};
}

bool agrees(const test::SmallModel& small, const std::string& type) {
  const test::SmallGguf gguf = test::write_gguf(small, type);
  Result<LanguageModel> model = open_model(gguf.file);
  EXPECT_TRUE(model) << model.error().message;
  return model && agrees(gguf.folder, *model, cases());
}

class GgufFamilies : public NumpyTest, public testing::WithParamInterface<std::string> {};

TEST_P(GgufFamilies, AgreeWithNumPy) {
  EXPECT_TRUE(agrees(test::family_for_gguf(GetParam()), "F32"));
}

INSTANTIATE_TEST_SUITE_P(All,
                         GgufFamilies,
                         testing::Values("llama",
                                         "mistral",
                                         "qwen2",
                                         "qwen3",
                                         "smollm3",
                                         "gemma",
                                         "gemma2",
                                         "gemma3_text",
                                         "phi3",
                                         "olmo2",
                                         "granite",
                                         "stablelm",
                                         "gpt_neox",
                                         "gpt2"),
                         [](const auto& one) { return one.param; });

class GgufRotations : public NumpyTest, public testing::WithParamInterface<std::string> {};

TEST_P(GgufRotations, AgreeWithNumPy) {
  const std::string scaling = R"(,"rope_scaling":)" + GetParam();
  for (const std::string family : {"llama", "gemma3_text", "olmo2"}) {
    EXPECT_TRUE(agrees(test::family_for_gguf(family, scaling), "F32")) << family << scaling;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    GgufRotations,
    testing::Values(
        R"({"rope_type":"linear","factor":3.0})",
        R"({"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
        R"("original_max_position_embeddings":64})",
        R"({"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":512,)"
        R"("beta_fast":4.0,"beta_slow":0.1})"));

class GgufQuantisations : public NumpyTest, public testing::WithParamInterface<std::string> {};

TEST_P(GgufQuantisations, AgreeWithNumPy) {
  EXPECT_TRUE(agrees(test::wide_llama(), GetParam()));
}

// So is what --weights f32 makes of them.
TEST_P(GgufQuantisations, WidenToTheSameModel) {
  const test::SmallGguf gguf = test::write_gguf(test::wide_llama(), GetParam());
  LanguageModel model = open_model(gguf.file).value();
  ASSERT_TRUE(store_weights(model, WeightFormat::f32));
  EXPECT_TRUE(agrees(gguf.folder, model, cases()));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    GgufQuantisations,
    testing::Values("F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K"),
    [](const auto& one) { return one.param; });

class GgufModels : public NumpyTest {};

TEST_F(GgufModels, KeepQuantisedWeightsAsTheyAreStored) {
  const test::SmallGguf gguf = test::write_gguf(test::wide_llama(), "Q4_K");
  const LanguageModel model = open_model(gguf.file).value();
  const auto file = model.files.front()->bytes();
  for (const LayerWeights& layer : model.layers) {
    for (const Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.output, &layer.gate,
                                 &layer.up, &layer.down}) {
      EXPECT_EQ(linear->weight.quantised, Quantisation::q4_k);
      EXPECT_GE(linear->weight.data, file.data());
      EXPECT_LT(linear->weight.data, file.data() + file.size());
    }
  }
  EXPECT_EQ(model.head.quantised, Quantisation::q4_k);
  // 144 bytes for 256 weights: 5 matrices of 256 rows and 2 of 128 a layer, and two of 32 tokens.
  EXPECT_EQ(model.weight_bytes(), 144U * (2 * (5 * 256 + 2 * 128) + 2 * 32));
}

TEST_F(GgufModels, SentencesNameKeysOfTheFile) {
  const auto refused = [](const std::string& metadata) {
    const auto opened = open_model(test::write_gguf(test::wide_llama(), "F32", metadata).file);
    return opened ? "opened" : opened.error().message;
  };
  EXPECT_THAT(refused(R"({"llama.rope.freq_base": -2.5})"),
              HasSubstr("has 'llama.rope.freq_base' = '-2.5'; expected a positive number"));
  EXPECT_THAT(refused(R"({"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 1e9})"),
              HasSubstr("has 'llama.rope.scaling.factor' = '1e+09'; expected a number from"));
}

// They would change every angle, and llama.cpp uses them whatever the type.
TEST_F(GgufModels, FactorsOfLongRopeNeedItsType) {
  const std::string scaling = R"(,"original_max_position_embeddings":16,"rope_scaling":{)"
                              R"("type":"su","short_factor":[1.0,1.1,1.5],)"
                              R"("long_factor":[1.5,4.0,8.0]})";
  const auto opened = open_model(test::write_gguf(test::family_for_gguf("phi3", scaling), "F32",
                                                  R"({"phi3.rope.scaling.type": "linear"})")
                                     .file);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message,
              HasSubstr("has a tensor 'rope_factors_long.weight' beside 'phi3.rope.scaling.type' = "
                        "'linear'; expected 'longrope', or no such tensor"));
}

// Whose files say no soft caps if they were made before llama.cpp had any.
TEST_F(GgufModels, Gemma2HasCapsThatNoEntrySays) {
  test::SmallModel small = test::family_for_gguf("gemma2");
  small.set(R"(,"attn_logit_softcapping":2.0,"final_logit_softcapping":3.0)", "");
  EXPECT_TRUE(agrees(small, "F32"));
}

TEST_F(GgufModels, LongRopeAgreesWithNumPy) {
  const std::string scaling = R"(,"original_max_position_embeddings":16,"rope_scaling":{)"
                              R"("type":"su","short_factor":[1.0,1.1,1.5],)"
                              R"("long_factor":[1.5,4.0,8.0]})";
  EXPECT_TRUE(agrees(test::family_for_gguf("phi3", scaling), "F32"));
}

}  // namespace
}  // namespace kv::model
