// Configurations that say what older ones did not, or say it elsewhere.
#include "kvcheck/model/weights/config.h"

#include "kvcheck/tests/model/small_models.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

std::string config_error(std::string_view from, std::string_view to) {
  const auto config = parse_config(test::small_llama().set(from, to).config);
  return config ? "read" : config.error().message;
}

// Newer configurations write the base and the scaling as one object.
TEST(Config, ReadRopeParameters) {
  const auto config = parse_config(test::small_llama()
                                       .set("\"hidden_act\"",
                                            R"("rope_parameters":{"rope_type":"linear","factor":4,)"
                                            R"("rope_theta":500000},"hidden_act")")
                                       .set("\"rope_theta\":10000.0,", "")
                                       .config);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->rope.theta, 500000);
  EXPECT_EQ(config->scaling.kind, RopeScaling::Kind::linear);
  EXPECT_EQ(config->scaling.factor, 4);
}

TEST(Config, EveryEndTokenEnds) {
  const auto ends = [](const std::string& value) {
    return parse_config(test::small_llama().set("[2,3]", value).config).value().end_tokens;
  };
  EXPECT_THAT(ends("[2,3]"), testing::ElementsAre(2, 3));
  EXPECT_THAT(ends("5"), testing::ElementsAre(5));
  EXPECT_THAT(ends("null"), testing::IsEmpty());
}

TEST(Config, SayWhatWasFound) {
  EXPECT_EQ(config_error("\"model_type\":\"llama\"", "\"model_type\":3"),
            "has 'model_type' = '3'; expected a text");
  EXPECT_EQ(config_error("\"vocab_size\":32", "\"vocab_size\":\"many\""),
            "has 'vocab_size' = the text 'many'; expected a count");
}

TEST(Config, RefuseSizesThatDoNotAgree) {
  EXPECT_THAT(config_error("\"num_attention_heads\":4", "\"num_attention_heads\":6"),
              HasSubstr("has a width of 16 and 6 heads; expected a multiple of the heads"));
  EXPECT_THAT(config_error("\"rope_theta\":10000.0",
                           R"("rope_parameters":{"partial_rotary_factor":1e300})"),
              HasSubstr("rotates 1e+300 of each head; expected a share of at most 1"));
  for (const char* epsilon : {"1e105", "1e-60", "2"}) {
    EXPECT_THAT(config_error("1e-05", epsilon), HasSubstr("contradicts itself: 'rms_norm_eps' is "))
        << epsilon;
  }
}

TEST(Config, RefuseWhatWouldBeReadWrongly) {
  EXPECT_THAT(config_error("\"bos_token_id\":1", "\"bos_token_id\":32"),
              HasSubstr("has 'bos_token_id' = 32; expected less than its 'vocab_size' of 32"));
  EXPECT_THAT(config_error("[2,3]", "99"), HasSubstr("has 'eos_token_id' = 99"));
  EXPECT_THAT(config_error("[2,3]", "[2,99]"), HasSubstr("has 'eos_token_id' = 99"));
  EXPECT_THAT(config_error("\"hidden_act\"", R"("quantization_config":{"bits":4},"hidden_act")"),
              HasSubstr("expected weights of f32, f16 or bf16"));
}

// Exports of newer transformers have the two in one object, under names of their own.
TEST(Config, GptNeoXSaysItsRotationOnce) {
  const auto of = [](const std::string& inside) {
    test::SmallModel model = test::small_gpt_neox();
    const auto config = parse_config(
        model.set("{", R"({"rope_parameters":{"rope_type":"default")" + inside + "},").config);
    return config ? "read" : config.error().message;
  };
  EXPECT_EQ(of(R"(,"rope_theta":10000,"partial_rotary_factor":0.5)"), "read");
  EXPECT_THAT(of(R"(,"rope_theta":500)"), HasSubstr("expected the value of 'rotary_emb_base'"));
  EXPECT_THAT(of(R"(,"partial_rotary_factor":0.25)"),
              HasSubstr("expected the value of 'rotary_pct', 0.5, beside it"));
}

}  // namespace
}  // namespace kv::model
