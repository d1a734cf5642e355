// The configurations of published models, as their directories hold them: each opens, with the
// shape that its model card states.
#include "kvcheck/model/weights/config.h"
#include "kvcheck/tests/paths.h"
#include "kvcheck/tests/traces/files.h"

namespace kv::model {
namespace {

ModelConfig read(const std::string& name) {
  const std::string path = KVCHECK_SOURCE_DIR "/tests/model/published/" + name + ".json";
  const auto config = parse_config(test::bytes_of_file(path));
  EXPECT_TRUE(config) << name << ": " << config.error().message;
  return config ? *config : ModelConfig{};
}

TEST(PublishedConfigs, Llama32Of1B) {
  const ModelConfig config = read("Llama-3.2-1B");
  EXPECT_EQ(config.scaling.kind, RopeScaling::Kind::llama3);
  EXPECT_EQ(config.kv_width(), 512U);
}

TEST(PublishedConfigs, Qwen3Of600M) {
  const ModelConfig config = read("Qwen3-0.6B");
  EXPECT_EQ(config.query_width(), 2048U);
  EXPECT_FALSE(config.has_windows());
  EXPECT_EQ(config.norms.projected, Norms::Projected::head);
}

TEST(PublishedConfigs, SmolLm2Of135M) {
  const ModelConfig config = read("SmolLM2-135M");
  EXPECT_EQ(config.head_dim, 64U);
  EXPECT_EQ(config.rope.theta, 100000);
}

TEST(PublishedConfigs, Gemma3Of270M) {
  const ModelConfig config = read("gemma-3-270m");
  EXPECT_TRUE(config.tied);
  EXPECT_EQ(config.layer(4).window, 512U);
  EXPECT_EQ(config.layer(5).window, 0U);
  EXPECT_EQ(config.layer(0).query_scale, 1);
}

TEST(PublishedConfigs, TinyLlamaOf1100M) {
  const ModelConfig config = read("TinyLlama-1.1B");
  EXPECT_EQ(config.kv_width(), 256U);
}

TEST(PublishedConfigs, PythiaOf70M) {
  const ModelConfig config = read("pythia-70m");
  EXPECT_EQ(config.rope.dims, 16U);
  EXPECT_TRUE(config.parallel);
}

TEST(PublishedConfigs, Gpt2Of124M) {
  const ModelConfig config = read("gpt2-124m");
  EXPECT_TRUE(config.learned_positions());
}

TEST(PublishedConfigs, Mistral7B) {
  const ModelConfig config = read("mistral-7b");
  EXPECT_EQ(config.layer(31).window, 4096U);
}

TEST(PublishedConfigs, Phi3Mini4K) {
  const ModelConfig config = read("phi-3-mini-4k");
  EXPECT_EQ(config.rope.dims, 96U);
}

}  // namespace
}  // namespace kv::model
