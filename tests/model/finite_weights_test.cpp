// Which weight is no finite number.
#include "kvcheck/model/weights/finite_weights.h"

#include <limits>

#include "kvcheck/model/codes/store_weights.h"
#include "kvcheck/model/run/evaluate.h"
#include "kvcheck/tests/model/small_families.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::string found_in(const std::string& path) {
  const LanguageModel model = open_model(path).value();
  return weight_not_finite(model).value_or("all are");
}

// The small model with one number changed.
std::string found_with(test::SmallModel small,
                       const std::string& tensor,
                       std::size_t at,
                       float value,
                       Number number = Number::f32) {
  small.tensors.at(tensor).values.at(at) = value;
  return found_in(small.write("finite", number));
}

TEST(FiniteWeights, AreAllFiniteInASoundModel) {
  EXPECT_EQ(found_in(test::small_llama().write("finite")), "all are");
  EXPECT_EQ(found_in(test::small_gpt2().write("finite")), "all are");
}

TEST(FiniteWeights, NameTheFileThePlaceAndTheValue) {
  const test::SmallModel llama = test::small_llama();
  const auto named = testing::AllOf(HasSubstr("/model.safetensors' has nan in the key matrix"),
                                    HasSubstr(" of layer 1, row 2, column 3"));
  EXPECT_THAT(found_with(llama, "model.layers.1.self_attn.k_proj.weight", 2 * 16 + 3, nan), named);
  EXPECT_THAT(found_with(llama, "model.layers.0.mlp.up_proj.weight", 0, -inf, Number::f16),
              HasSubstr("has -inf in the up matrix of layer 0, row 0, column 0"));
  EXPECT_THAT(found_with(llama, "model.layers.1.input_layernorm.weight", 5, inf),
              HasSubstr("has inf in the gain of the norm before attention of layer 1, number 5"));
  EXPECT_THAT(found_with(llama, "model.embed_tokens.weight", 31 * 16, nan),
              HasSubstr("in the embeddings, row 31, column 0"));
  EXPECT_THAT(found_with(llama, "lm_head.weight", 1, nan), HasSubstr("in the output layer, row 0"));
}

// Whatever a model reads is looked at: each tensor of each family, once.
TEST(FiniteWeights, MissNoTensorOfAnyFamily) {
  std::vector<test::SmallModel> all = {test::small_gpt_neox(), test::small_gpt2(),
                                       test::small_qwen2()};
  for (const std::string& name : test::small_family_names()) {
    all.push_back(test::small_family(name));
  }
  for (const test::SmallModel& small : all) {
    for (const auto& [name, tensor] : small.tensors) {
      EXPECT_THAT(found_with(small, name, tensor.values.size() - 1, nan), HasSubstr("has nan in "))
          << name << " of " << small.config;
    }
  }
}

TEST(FiniteWeights, AreFoundInQuantisedOnesAsWell) {
  LanguageModel model = open_model(test::small_llama().write("finite")).value();
  ASSERT_TRUE(store_weights(model, WeightFormat::int8));
  EXPECT_FALSE(weight_not_finite(model));
  const_cast<float*>(model.layers[1].down.weight.scales)[2] = inf;
  EXPECT_THAT(weight_not_finite(model).value_or(""),
              HasSubstr("in the down matrix of layer 1, row 2, scale 0"));
}

TEST(FiniteWeights, AreWhatAFailedRunTellsOf) {
  test::SmallModel small = test::small_llama();
  small.tensors.at("model.layers.1.mlp.down_proj.weight").values[7] = nan;
  const LanguageModel model = open_model(small.write("finite")).value();
  const std::vector<TokenId> text = {1, 2, 3, 4};
  const auto evaluated =
      evaluate(model, parse_spec("dense").value(), std::vector<std::vector<TokenId>>{text}, {});
  ASSERT_FALSE(evaluated);
  EXPECT_THAT(evaluated.error().message,
              HasSubstr("layer 1, row 0, column 7; expected finite weights, and after token 0 the "
                        "model's logits are no finite numbers"));
}

// Sums that no f32 holds have no weight to blame.
TEST(FiniteWeights, OfARunThatOverflowsAreNotBlamed) {
  test::SmallModel small = test::small_llama();
  for (float& one : small.tensors.at("lm_head.weight").values) one = 3e38F;
  const LanguageModel model = open_model(small.write("finite")).value();
  const std::vector<TokenId> text = {1, 2, 3, 4};
  const auto evaluated =
      evaluate(model, parse_spec("dense").value(), std::vector<std::vector<TokenId>>{text}, {});
  ASSERT_FALSE(evaluated);
  EXPECT_THAT(evaluated.error().message, HasSubstr("though all its weights are"));
}

// The error of three tokens under the storage; "none" if there is none.
std::string error_of(const LanguageModel& model, std::string_view storage, std::size_t chunk) {
  Spec spec = parse_spec("dense").value();
  spec.chunk = static_cast<std::uint32_t>(chunk);
  DecoderOptions options;
  options.storage = parse_kv_format(storage).value();
  const auto evaluated =
      evaluate(model, spec, std::vector<std::vector<TokenId>>{{1, 2, 3, 4}}, options);
  return evaluated ? "none" : evaluated.error().message;
}

// Kernels make different things of an infinite row, and a chunk shows it to earlier tokens.
TEST(Unstorable, NumbersAreRefusedByName) {
  test::SmallModel small = test::small_llama();
  for (float& one : small.tensors.at("model.layers.1.self_attn.v_proj.weight").values) one *= 1e6F;
  const LanguageModel model = open_model(small.write("large")).value();
  for (const std::size_t chunk : {1U, 3U}) {
    for (const std::string_view storage : {"f32", "bf16", "int8", "int4"}) {
      EXPECT_EQ(error_of(model, storage, chunk), "none") << storage;
    }
    for (const std::string_view storage : {"f16", "int4:recent=2,full=f16"}) {
      EXPECT_THAT(
          error_of(model, storage, chunk),
          testing::MatchesRegex("a value of layer 1 has -?[0-9.e+]+, which f16 cannot hold; "
                                "expected storage as bf16 or f32"))
          << storage;
    }
  }
}

TEST(Unstorable, ANaNIsNoCodeOfInt8) {
  test::SmallModel small = test::small_llama();
  small.tensors.at("model.layers.1.self_attn.k_proj.weight").values[3] = nan;
  const LanguageModel model = open_model(small.write("nan")).value();
  EXPECT_THAT(error_of(model, "int8", 1),
              HasSubstr("row 0, column 3; expected finite weights, and a key of layer 1 has nan"));
  for (const std::string_view storage : {"f32", "f16", "int4", "int8:recent=1"}) {
    EXPECT_THAT(error_of(model, storage, 1), HasSubstr("the model's logits are no finite numbers"));
  }
}

}  // namespace
}  // namespace kv::model
