// Opening models: what is read, and one sentence for each way in which files can be wrong.
#include <cstring>
#include <filesystem>

#include "kvcheck/model/weights/language_model.h"
#include "kvcheck/tests/model/small_models.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

using namespace testing;
using test::SmallModel;

std::string error_of(const std::string& path) {
  const Result<LanguageModel> model = open_model(path);
  return model ? "opened" : model.error().message;
}

std::string error_of(const SmallModel& model) {
  return error_of(model.write("model"));
}

float number_at(const Matrix& matrix, std::size_t row, std::size_t column) {
  std::vector<float> values(matrix.columns);
  kernels().widen(matrix.number, matrix.row(row), matrix.columns, values.data());
  return values[column];
}

// Seven sizes and as many numbers as they ask for: dim 4, hidden 6, 1 layer, 2 heads, 1 kv-head,
// vocabulary 5, context 3.
std::string checkpoint(std::vector<std::int32_t> sizes = {4, 6, 1, 2, 1, 5, 3},
                       std::size_t numbers = 20 + 4 + 16 + 8 + 8 + 16 + 4 + 72 + 4 + 6) {
  std::string bytes(sizes.size() * sizeof(std::int32_t), '\0');
  std::memcpy(bytes.data(), sizes.data(), bytes.size());
  std::vector<float> values(numbers);
  for (std::size_t i = 0; i < numbers; ++i) values[i] = static_cast<float>(i);
  return bytes + test::bytes_of(values);
}

std::string checkpoint_error(const std::string& bytes) {
  return error_of(test::temporary_file("model.bin", bytes));
}

TEST(Weights, ReadALlama2cCheckpointInItsOrder) {
  const LanguageModel model = open_model(test::temporary_file("model.bin", checkpoint())).value();
  EXPECT_EQ(model.config.kv_width(), 2U);
  EXPECT_TRUE(model.config.tied);
  EXPECT_EQ(model.config.rope, (Rope{RopeLayout::interleaved, 2, 10000}));
  EXPECT_EQ(number_at(model.embedding, 4, 3), 19);
  const LayerWeights& layer = model.layers.at(0);
  EXPECT_THAT(layer.before_attention.gain, ElementsAre(20, 21, 22, 23));
  EXPECT_EQ(number_at(layer.query.weight, 0, 0), 24);
  EXPECT_EQ(number_at(layer.key.weight, 0, 0), 40);
  EXPECT_EQ(number_at(layer.value.weight, 1, 3), 55);
  EXPECT_EQ(number_at(layer.output.weight, 0, 0), 56);
  EXPECT_THAT(layer.before_mlp.gain, ElementsAre(72, 73, 74, 75));
  EXPECT_EQ(number_at(layer.gate.weight, 0, 0), 76);
  EXPECT_EQ(number_at(layer.down.weight, 0, 0), 100);
  EXPECT_EQ(number_at(layer.up.weight, 0, 0), 124);
  EXPECT_THAT(model.last.gain, ElementsAre(148, 149, 150, 151));
  EXPECT_EQ(model.head.data, model.embedding.data);
}

TEST(Weights, ANegativeVocabularyMeansAnOutputLayerOfItsOwn) {
  const std::string bytes = checkpoint({4, 6, 1, 2, 1, -5, 3}, 158 + 20);
  const LanguageModel model = open_model(test::temporary_file("model.bin", bytes)).value();
  EXPECT_FALSE(model.config.tied);
  EXPECT_EQ(number_at(model.head, 0, 0), 158);
}

TEST(Weights, RefuseABrokenCheckpoint) {
  EXPECT_THAT(checkpoint_error(""), HasSubstr("has 0 bytes; expected at least the 28"));
  EXPECT_THAT(checkpoint_error(checkpoint({4, 6, 0, 2, 1, 5, 3})),
              HasSubstr("has n_layers = 0; expected 1 to"));
  EXPECT_THAT(checkpoint_error(checkpoint({4, 6, 1, 2, 1, std::int32_t(0x80000000), 3})),
              HasSubstr("has vocab_size = -2147483648"));
  EXPECT_THAT(checkpoint_error(checkpoint({5, 6, 1, 2, 1, 5, 3})),
              HasSubstr("has dim = 5; expected a multiple of n_heads, 2"));
  EXPECT_THAT(checkpoint_error(checkpoint({6, 6, 1, 3, 2, 5, 3})),
              HasSubstr("kv_heads is 2; expected a divisor of the 3 heads"));
  EXPECT_THAT(checkpoint_error(checkpoint({4, 6, 1, 4, 1, 5, 3})),
              HasSubstr("the number of rotating dimensions is 1; expected an even number"));
  EXPECT_THAT(checkpoint_error(checkpoint().substr(0, 100)),
              HasSubstr("has 100 bytes; its sizes ask for 660; the file is cut off"));
  EXPECT_THAT(checkpoint_error(checkpoint() + "x"), EndsWith("its sizes ask for 660"));
  EXPECT_THAT(checkpoint_error(checkpoint({1 << 24, 1 << 24, 1 << 24, 2, 1, 5, 3})),
              HasSubstr("more than any file has"));
}

TEST(Weights, ReadALlamaDirectory) {
  const SmallModel small = test::small_llama();
  const LanguageModel model = open_model(small.write("model")).value();
  EXPECT_EQ(model.config.kv_heads, 2U);
  EXPECT_EQ(model.config.begin_token, 1);
  EXPECT_THAT(model.config.end_tokens, testing::ElementsAre(2, 3));
  const auto& expected = small.tensors.at("model.layers.1.mlp.down_proj.weight").values;
  EXPECT_EQ(number_at(model.layers[1].down.weight, 2, 3), expected[2 * 24 + 3]);
  EXPECT_EQ(model.weight_bytes(), 4U * (2 * 32 * 16 + 2 * (2 * 256 + 2 * 128 + 3 * 384)));
}

TEST(Weights, ReadHalfPrecisionWithoutCopying) {
  for (const Number number : {Number::f16, Number::bf16}) {
    const SmallModel small = test::small_llama();
    const LanguageModel model = open_model(small.write("model", number)).value();
    EXPECT_EQ(model.embedding.number, number);
    EXPECT_NEAR(number_at(model.embedding, 3, 5),
                small.tensors.at("model.embed_tokens.weight").values[3 * 16 + 5], 0.004);
    EXPECT_EQ(model.files.size(), 1U);
  }
}

TEST(Weights, Qwen2HasBiasesAndATiedHead) {
  const SmallModel small = test::small_qwen2();
  const LanguageModel model = open_model(small.write("model")).value();
  EXPECT_EQ(model.layers[0].key.bias,
            small.tensors.at("model.layers.0.self_attn.k_proj.bias").values);
  EXPECT_TRUE(model.layers[0].output.bias.empty());
  EXPECT_EQ(model.head.data, model.embedding.data);
}

TEST(Weights, GptNeoxsFusedMatrixIsSplitByHead) {
  const SmallModel small = test::small_gpt_neox();
  const LanguageModel model = open_model(small.write("model")).value();
  EXPECT_EQ(model.config.rope, (Rope{RopeLayout::half, 4, 10000}));
  const auto& fused = small.tensors.at("gpt_neox.layers.0.attention.query_key_value.weight").values;
  // Head 1's rows begin at 24: 8 of query, 8 of key, 8 of value.
  EXPECT_EQ(number_at(model.layers[0].query.weight, 8, 3), fused[24 * 16 + 3]);
  EXPECT_EQ(number_at(model.layers[0].key.weight, 9, 3), fused[33 * 16 + 3]);
  EXPECT_EQ(number_at(model.layers[0].value.weight, 15, 3), fused[47 * 16 + 3]);
  EXPECT_EQ(model.layers[0].value.bias[15],
            small.tensors.at("gpt_neox.layers.0.attention.query_key_value.bias").values[47]);
}

TEST(Weights, Gpt2sColumnsBecomeRows) {
  const SmallModel small = test::small_gpt2();
  const LanguageModel model = open_model(small.write("model")).value();
  const auto& fused = small.tensors.at("h.1.attn.c_attn.weight").values;
  EXPECT_EQ(number_at(model.layers[1].key.weight, 2, 3), fused[3 * 48 + 16 + 2]);
  EXPECT_EQ(number_at(model.layers[1].down.weight, 2, 3),
            small.tensors.at("h.1.mlp.c_proj.weight").values[3 * 16 + 2]);
  EXPECT_EQ(model.config.inner, 64U);
  EXPECT_EQ(model.positions.rows, 64U);
}

TEST(Weights, Gpt2sNamesMayHaveAPrefixAndBuffers) {
  SmallModel small = test::small_gpt2();
  SmallModel renamed = {small.config, {}};
  for (const auto& [name, tensor] : small.tensors) renamed.tensors["transformer." + name] = tensor;
  renamed.add("transformer.h.0.attn.bias", {1, 1, 64, 64});
  EXPECT_EQ(error_of(renamed), "opened");
}

TEST(Weights, ATiedOutputLayerHasTheShapeOfTheEmbedding) {
  SmallModel small = test::small_qwen2();
  EXPECT_THAT(error_of(small.add("lm_head.weight", {32, 16})),
              HasSubstr("'lm_head.weight' differs from the embedding; expected the same numbers"));
  small.tensors["lm_head.weight"] = small.tensors.at("model.embed_tokens.weight");
  EXPECT_EQ(error_of(small), "opened");
  EXPECT_THAT(error_of(small.add("lm_head.weight", {3, 3})),
              HasSubstr("tensor 'lm_head.weight' has shape [3, 3]"));
}

TEST(Weights, ReadShards) {
  const SmallModel small = test::small_llama();
  const std::string folder = test::fresh_folder("model");
  const std::vector<std::string> rest = {"model.layers.1", "model.embed", "model.norm", "lm_head"};
  test::write_into(folder, "config.json", small.config);
  test::write_into(folder, "a.safetensors", small.safetensors(Number::f32, {"model.layers.0"}));
  test::write_into(folder, "b.safetensors", small.safetensors(Number::f32, rest));
  std::string map;
  for (const auto& [name, tensor] : small.tensors) {
    map += (map.empty() ? "\"" : ",\"") + name + "\":\"" +
           (name.starts_with("model.layers.0") ? "a" : "b") + ".safetensors\"";
  }
  const std::string index = "model.safetensors.index.json";
  test::write_into(folder, index, R"({"weight_map":{)" + map + "}}");
  EXPECT_EQ(error_of(folder), "opened");

  test::write_into(folder, index, R"({"weight_map":{"lm_head.weight":"a.safetensors"}})");
  EXPECT_THAT(error_of(folder),
              HasSubstr("places tensor 'lm_head.weight' in 'a.safetensors', which has no such"));
  test::write_into(folder, index, R"({"weight_map":{"lm_head.weight":"../b.safetensors"}})");
  EXPECT_THAT(error_of(folder), HasSubstr("expected the name of a file beside it"));
  test::write_into(folder, index, R"({"weight_map":{)" + map + R"(,"x":"c.safetensors"}})");
  EXPECT_THAT(error_of(folder), HasSubstr("c.safetensors"));
  test::write_into(folder, index, R"({"weight_map":{)" + map + "}}");
  test::write_into(folder, "b.safetensors", small.safetensors(Number::f32, {"model.layers.1"}));
  EXPECT_THAT(error_of(folder), HasSubstr("'lm_head.weight' in 'b.safetensors', which has no"));
  test::write_into(folder, "b.safetensors", small.safetensors(Number::f32).substr(0, 9000));
  EXPECT_THAT(error_of(folder), HasSubstr("the file is cut off"));
  test::write_into(folder, "b.safetensors", small.safetensors(Number::f32));
  EXPECT_THAT(error_of(folder), HasSubstr("expected it once"));
  test::write_into(folder, index, R"({"weight_map":{}})");
  EXPECT_THAT(error_of(folder), HasSubstr("has an empty 'weight_map'"));
  test::write_into(folder, index, R"({"weight_map":{"a":"../b"}})");
  EXPECT_THAT(error_of(folder), HasSubstr("places tensor 'a' in '../b'; expected the name of a"));
  test::write_into(folder, index, "{");
  EXPECT_THAT(error_of(folder), HasSubstr("is no JSON: incomplete JSON"));
}

TEST(Weights, RefuseWrongTensors) {
  SmallModel model = test::small_llama();
  model.tensors.erase("model.norm.weight");
  EXPECT_THAT(error_of(model),
              HasSubstr("has no tensor 'model.norm.weight'; expected it with shape [16]"));
  model = test::small_llama().add("model.layers.1.self_attn.k_proj.weight", {16, 8});
  EXPECT_THAT(error_of(model), HasSubstr("has shape [16, 8]; the configuration asks for [8, 16]"));
  model = test::small_llama().add("model.layers.2.mlp.up_proj.weight", {24, 16});
  EXPECT_THAT(error_of(model),
              HasSubstr("has a tensor 'model.layers.2.mlp.up_proj.weight' that a"));
  const std::string folder = test::small_llama().write("model");
  test::write_into(folder, "model.safetensors",
                   test::container(R"({"model.embed_tokens.weight":{"dtype":"I32","shape":[32,16],)"
                                   R"("data_offsets":[0,2048]}})",
                                   std::string(2048, '\0')));
  EXPECT_THAT(error_of(folder), HasSubstr("has dtype I32; expected F32, F16 or BF16"));
}

TEST(Weights, RefuseMissingFiles) {
  EXPECT_THAT(error_of("/nowhere/at/all"), HasSubstr("there is no model at '/nowhere/at/all'"));
  const std::string folder = test::fresh_folder("model");
  EXPECT_THAT(error_of(folder), HasSubstr("config.json"));
  test::write_into(folder, "config.json", test::small_llama().config);
  EXPECT_THAT(error_of(folder), HasSubstr("has neither model.safetensors nor"));
}

std::string config_error(std::string_view from, std::string_view to) {
  const auto config = parse_config(test::small_llama().set(from, to).config);
  return config ? "read" : config.error().message;
}

// Of a configuration with this scaling of the kind llama3.
std::string scaling_error(const std::string& rest) {
  return config_error("\"hidden_act\"",
                      R"("rope_scaling":{"rope_type":"llama3",)" + rest + R"(},"hidden_act")");
}

TEST(Weights, RefuseAContradictoryConfiguration) {
  EXPECT_THAT(config_error("{", "["), HasSubstr("is no JSON"));
  EXPECT_THAT(config_error("\"llama\"", "\"lama\""),
              HasSubstr("unknown model_type 'lama'; did you mean 'llama'?"));
  EXPECT_THAT(config_error("\"hidden_size\":16", "\"hidden\":16"),
              HasSubstr("has no 'hidden_size'"));
  EXPECT_THAT(config_error(":32", ":-1"), HasSubstr("has 'vocab_size' = '-1'; expected a count"));
  EXPECT_THAT(
      config_error("heads\":2", "heads\":3"),
      HasSubstr(
          "contradicts itself: 'num_key_value_heads' is 3; expected a divisor of the 4 heads"));
  EXPECT_THAT(config_error("\"silu\"", "\"sulu\""), HasSubstr("did you mean 'silu'?"));
  EXPECT_THAT(config_error("10000.0", "0"), HasSubstr("'rope_theta' = '0'; expected a positive"));
  EXPECT_THAT(config_error("\"hidden_act\"", R"("rope_scaling":{"rope_type":"yarn"},"hidden_act")"),
              HasSubstr("has a rotation without a 'factor'"));
  EXPECT_THAT(config_error("\"hidden_act\"", R"("rope_scaling":{"type":"linear"},"hidden_act")"),
              HasSubstr("without a 'factor'"));
  // Nothing of llama3's scaling is assumed: each of its numbers has to be there.
  EXPECT_EQ(scaling_error(R"("factor":8,"low_freq_factor":1,"high_freq_factor":4,)"
                          R"("original_max_position_embeddings":8192)"),
            "read");
  EXPECT_THAT(scaling_error(R"("factor":8,"low_freq_factor":1,"high_freq_factor":4)"),
              HasSubstr("has no 'rope_scaling.original_max_position_embeddings'"));
  EXPECT_THAT(scaling_error(R"("factor":8,"high_freq_factor":4,)"
                            R"("original_max_position_embeddings":8192)"),
              HasSubstr("whose low_freq_factor is not between"));
  EXPECT_THAT(scaling_error(R"("factor":8,"low_freq_factor":1,)"
                            R"("original_max_position_embeddings":8192)"),
              HasSubstr("whose low_freq_factor is not between"));
  EXPECT_THAT(config_error("\"hidden_act\"", R"("use_sliding_window":true,"hidden_act")"),
              HasSubstr("expected false, because nothing else is implemented"));
  EXPECT_EQ(config_error("\"rope_theta\":10000.0,", ""), "read");
}

TEST(Weights, Llama3StretchesSlowPairsOnly) {
  ModelConfig config;
  config.rope = {RopeLayout::half, 128, 500000};
  const std::vector<double> plain = rope_frequencies(config);
  config.scaling = {RopeScaling::Kind::llama3, 8, 1, 4, 8192};
  const std::vector<double> scaled = rope_frequencies(config);
  EXPECT_EQ(scaled.front(), plain.front());
  EXPECT_DOUBLE_EQ(scaled.back(), plain.back() / 8);
  // Pair 32 makes 1.84 rotations within 8192 tokens: (1.84 - 1) / 3 is kept, the rest stretched.
  const double rotations = 8192 * plain[32] / 6.283185307179586;
  const double kept = (rotations - 1) / 3;
  EXPECT_NEAR(scaled[32], plain[32] * (kept + (1 - kept) / 8), 1e-15);
  config.scaling = {RopeScaling::Kind::linear, 4};
  EXPECT_DOUBLE_EQ(rope_frequencies(config)[7], plain[7] / 4);
}

TEST(Weights, ReadStories260K) {
  const std::string path = test::shared_data("stories260K/stories260K.bin");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no model at " << path;
  const LanguageModel model = open_model(path).value();
  EXPECT_EQ(model.config.layers, 5U);
  EXPECT_EQ(model.config.kv_heads, 4U);
  EXPECT_EQ(model.config.vocabulary, 512U);
  EXPECT_TRUE(model.config.tied);
}

}  // namespace
}  // namespace kv::model
