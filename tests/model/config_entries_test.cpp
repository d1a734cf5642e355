// Every entry of a configuration is used, known to change nothing, or refused by name.
#include "kvcheck/model/weights/config.h"
#include "kvcheck/tests/model/small_families.h"

namespace kv::model {
namespace {

using testing::HasSubstr;

std::string message_of(const std::string& json) {
  const auto config = parse_config(json);
  return config ? "read" : config.error().message;
}

std::vector<test::SmallModel> all_models() {
  std::vector<test::SmallModel> all = {test::small_gpt_neox(), test::small_gpt2()};
  for (const std::string& name : test::small_family_names()) {
    all.push_back(test::small_family(name));
  }
  return all;
}

TEST(ConfigEntries, AnUnknownOneIsRefusedByNameInEveryFamily) {
  for (test::SmallModel model : all_models()) {
    EXPECT_EQ(message_of(model.config), "read") << model.config;
    model.set("{", R"({"attention_of_tomorrow":0.5,)");
    EXPECT_THAT(message_of(model.config),
                HasSubstr("has an entry 'attention_of_tomorrow' = '0.5' that kvcheck does not "
                          "know in a"))
        << model.config;
  }
}

TEST(ConfigEntries, NullIsAsGoodAsMissing) {
  for (test::SmallModel model : all_models()) {
    model.set("{", R"({"attention_of_tomorrow":null,)");
    EXPECT_EQ(message_of(model.config), "read") << model.config;
  }
}

TEST(ConfigEntries, WhatOnlyTrainingUsesChangesNothing) {
  for (test::SmallModel model : all_models()) {
    model.set("{", R"({"attention_dropout":0.1,"initializer_range":0.02,"use_cache":true,)"
                   R"("torch_dtype":"bfloat16","architectures":["X"],"pad_token_id":0,)");
    EXPECT_EQ(message_of(model.config), "read") << model.config;
  }
}

// As configurations that were published have them.
TEST(ConfigEntries, WhatNoProgramReadsChangesNothing) {
  const auto read = [](test::SmallModel model, const std::string& entries) {
    return message_of(model.set("{", "{" + entries).config);
  };
  EXPECT_EQ(read(test::small_gpt2(), R"("n_special":0,"predict_special_tokens":true,)"), "read");
  EXPECT_EQ(read(test::small_gpt2(), R"("_num_labels":1,"output_past":true,)"), "read");
  EXPECT_EQ(read(test::small_llama(), R"("max_sequence_length":2048,)"), "read");
  EXPECT_EQ(read(test::small_family("smollm3"), R"("max_window_layers":28,)"), "read");
  EXPECT_EQ(read(test::small_family("qwen2"), R"("use_mrope":false,)"), "read");
  EXPECT_THAT(read(test::small_family("qwen2"), R"("use_mrope":true,)"), HasSubstr("'use_mrope'"));
  EXPECT_EQ(read(test::small_family("gemma2"), R"("sliding_window_size":6,)"), "read");
  EXPECT_THAT(read(test::small_family("gemma2"), R"("sliding_window_size":7,)"),
              HasSubstr("has 'sliding_window_size' = '7'; expected the value of 'sliding_window'"));
  EXPECT_THAT(read(test::small_family("mistral"), R"("max_window_layers":28,)"),
              HasSubstr("an entry 'max_window_layers'"));
  test::SmallModel without_begin = test::small_llama();
  without_begin.set(R"("bos_token_id":1)", R"("bos_token_id":-1)");
  EXPECT_EQ(message_of(without_begin.config), "read");
  EXPECT_FALSE(parse_config(without_begin.config)->begin_token);
}

// An entry with a value that would change the numbers in a way that is not implemented.
TEST(ConfigEntries, VariantsAreRefusedByName) {
  const auto refused = [](const std::string& family, const std::string& entry) {
    return message_of(test::small_family(family, "," + entry).config);
  };
  EXPECT_THAT(refused("llama", R"("rope_interleaved":true)"),
              HasSubstr("has 'rope_interleaved' = 'true'; expected false, because nothing else"));
  EXPECT_THAT(refused("llama", R"("sliding_window":5)"), HasSubstr("an entry 'sliding_window'"));
  EXPECT_THAT(refused("mistral", R"("attention_bias":true)"), HasSubstr("'attention_bias'"));
  EXPECT_THAT(refused("qwen2", R"("mlp_bias":true)"), HasSubstr("'mlp_bias'"));
  EXPECT_THAT(refused("stablelm", R"("qk_layernorm":true)"), HasSubstr("'qk_layernorm'"));
  EXPECT_THAT(refused("gemma3_text", R"("use_bidirectional_attention":true)"),
              HasSubstr("'use_bidirectional_attention'"));
  EXPECT_THAT(refused("gemma", R"("hidden_act":"relu")"), HasSubstr("has 'hidden_act'"));
  EXPECT_THAT(refused("phi3", R"("lm_head_bias":true)"), HasSubstr("'lm_head_bias'"));
  EXPECT_THAT(refused("olmo2", R"("is_encoder_decoder":true)"), HasSubstr("'is_encoder_decoder'"));
  EXPECT_THAT(refused("granite", R"("quantization_config":{"bits":4})"),
              HasSubstr("expected weights of f32, f16 or bf16"));
  EXPECT_THAT(refused("granite", R"("attention_multiplier":1e9)"),
              HasSubstr("expected a number from 1e-6 to 1e6"));
  EXPECT_THAT(message_of(test::small_gpt2().set("{", R"({"add_cross_attention":true,)").config),
              HasSubstr("'add_cross_attention'"));
  EXPECT_THAT(message_of(test::small_gpt2().set("n_ctx\":64", "n_ctx\":32").config),
              HasSubstr("has 'n_ctx' = '32'; expected the value of 'n_positions', '64'"));
}

TEST(ConfigEntries, RotationsAreReadToTheLastEntry) {
  const auto of = [](const std::string& settings, const std::string& family = "llama") {
    return message_of(test::small_family(family, R"(,"rope_scaling":)" + settings).config);
  };
  EXPECT_THAT(of(R"({"rope_type":"linear","factor":2,"phase":1})"),
              HasSubstr("has an entry 'rope_scaling.phase' = '1' that kvcheck does not know"));
  EXPECT_THAT(of(R"({"rope_type":"linear","factor":2,"a\nb":1})"),
              HasSubstr("has an entry 'rope_scaling.a\\x0ab' = '1' that"));
  EXPECT_THAT(of(R"({"rope_type":"mrope","factor":2})"), HasSubstr("unknown type of rotation"));
  EXPECT_THAT(of(R"({"rope_type":"linear","type":"yarn","factor":2})"),
              HasSubstr("expected the value of 'rope_type'"));
  EXPECT_THAT(of(R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":8})"),
              HasSubstr("expected 32, because nothing else is implemented"));
  EXPECT_THAT(of(R"({"rope_type":"longrope","short_factor":[1],"long_factor":[1]})", "phi3"),
              HasSubstr("expected two lists of one for each of the 3 pairs"));
  EXPECT_THAT(
      of(R"({"rope_type":"longrope","short_factor":[1,0,1],"long_factor":[1,1,1]})", "phi3"),
      HasSubstr("expected a list of positive numbers"));
  EXPECT_THAT(of("7"), HasSubstr("has 'rope_scaling' = '7'; expected an object"));
}

TEST(ConfigEntries, KindsOfLayersMustFitTheLayers) {
  const auto of = [](const std::string& entry, const std::string& family) {
    return message_of(test::small_family(family, "," + entry).config);
  };
  EXPECT_THAT(of(R"("layer_types":["full_attention"])", "gemma2"),
              HasSubstr("has 'layer_types' of 1 layers; expected 4"));
  EXPECT_THAT(of(R"("layer_types":["full_attention","full_atention","x","y"])", "gemma2"),
              HasSubstr("unknown layer type 'full_atention'; did you mean 'full_attention'?"));
  EXPECT_THAT(of(R"("no_rope_layers":[1,0])", "smollm3"), HasSubstr("one for each layer"));
  EXPECT_THAT(of(R"("no_rope_layers":[1,0,2,1])", "smollm3"), HasSubstr("a list of 0 and 1"));
  EXPECT_THAT(of(R"("no_rope_layers":[1,0,1,1,1])", "smollm3"), HasSubstr("one for each layer"));
  test::SmallModel neo = test::small_family("gpt_neo");
  EXPECT_THAT(message_of(neo.set(R"("local"],2)", R"("local"],3)").config),
              HasSubstr("has 6 words in 'attention_layers' or 'attention_types'"));
  EXPECT_THAT(
      message_of(
          test::small_family("gpt_neo").set(R"([["global","local"],2])", R"([[],65536])").config),
      HasSubstr("expected a list of pairs"));
  EXPECT_THAT(message_of(neo.set(R"("global")", R"("glbal")").config),
              HasSubstr("expected global or local"));
}

TEST(ConfigEntries, KindsOfLayersMayBeSaidInTwoWaysThatAgree) {
  const auto of = [](const std::string& types, const std::string& family) {
    return message_of(test::small_family(family, R"(,"layer_types":[)" + types + "]").config);
  };
  const std::string full = R"("full_attention")";
  const std::string slides = R"("sliding_attention")";
  const std::string third = slides + "," + slides + "," + full + "," + slides;
  EXPECT_EQ(of(third, "gemma3_text"), "read");
  EXPECT_THAT(of(full + "," + slides + "," + full + "," + slides, "gemma3_text"),
              HasSubstr("has a 'layer_types' that is 'full_attention' for layer 0, which is not "
                        "what its 'sliding_window_pattern' says"));
  for (const std::string family : {"llama", "gemma", "olmo2", "granite"}) {
    std::string all = full + "," + full + "," + full + "," + full;
    EXPECT_EQ(of(all, family), "read");
    EXPECT_THAT(of(all + "," + full, family), HasSubstr("because a " + family + " model has no"));
    all.replace(all.rfind(full), full.size(), slides);
    EXPECT_THAT(of(all, family), HasSubstr("'full_attention' for each of the"));
  }
  EXPECT_THAT(message_of(test::small_family(
                             "mistral", R"(,"sliding_window":null,"layer_types":[)" + third + "]")
                             .config),
              HasSubstr("has a window in layer 0 and no length of it"));
}

TEST(ConfigEntries, ABaseThatStandsTwiceIsOneNumber) {
  const auto of = [](const std::string& inside) {
    return message_of(
        test::small_family(
            "llama",
            R"(,"rope_theta":500.5,"rope_parameters":{"rope_type":"default")" + inside + "}")
            .config);
  };
  EXPECT_THAT(of(R"(,"rope_theta":500.25)"),
              HasSubstr("has 'rope_parameters.rope_theta' = '500.25'; expected the value of "
                        "'rope_theta', 500.5, beside it"));
}

// A scaled rotation may name the share that rotates, but does not make the entry outside known.
TEST(ConfigEntries, AShareThatTheFamilyDoesNotReadIsRefusedBesideAScaling) {
  const auto of = [](const std::string& inside, const std::string& outside) {
    return message_of(test::small_family("llama", R"(,"rope_scaling":{"rope_type":"linear",)"
                                                  R"("factor":2)" +
                                                      inside + "}" + outside)
                          .config);
  };
  const std::string half = R"(,"partial_rotary_factor":0.5)";
  EXPECT_THAT(of("", half), HasSubstr("has an entry 'partial_rotary_factor' = '0.5' that"));
  EXPECT_EQ(of(half, ""), "read");
  EXPECT_EQ(of(half, half), "read");
  EXPECT_THAT(of(half, R"(,"partial_rotary_factor":0.25)"), HasSubstr("expected the value of"));
}

// As in transformers, where both count only if neither is 0.
TEST(ConfigEntries, YarnsScalesMayBeZero) {
  const auto factor = [](const std::string& scales) {
    return parse_config(
               test::small_family(
                   "llama", R"(,"rope_scaling":{"rope_type":"yarn","factor":4)" + scales + "}")
                   .config)
        .value()
        .scaling.attention_factor;
  };
  EXPECT_EQ(factor(R"(,"mscale":0,"mscale_all_dim":0.0)"), factor(""));
  EXPECT_EQ(factor(R"(,"mscale":0.7,"mscale_all_dim":0)"), factor(""));
  EXPECT_NE(factor(R"(,"mscale":0.7,"mscale_all_dim":0.3)"), factor(""));
}

TEST(ConfigEntries, TheFirstContextIsOneNumber) {
  const auto with = [](const std::string& inside, const std::string& outside) {
    return parse_config(
        test::small_family("phi3", R"(,"rope_scaling":{"rope_type":"longrope","short_factor":)"
                                   R"([1,1,1],"long_factor":[1,2,3])" +
                                       inside + "}" + outside)
            .config);
  };
  const std::string eight = R"(,"original_max_position_embeddings":8)";
  EXPECT_EQ(with("", eight).value().scaling.first_context, 8);
  EXPECT_EQ(with(eight, "").value().scaling.first_context, 8);
  EXPECT_EQ(with(eight, eight).value().scaling.first_context, 8);
  // What transformers assumes for Phi-3.
  EXPECT_EQ(with("", "").value().scaling.first_context, 4096);
  EXPECT_THAT(with(eight, R"(,"original_max_position_embeddings":9)").error().message,
              HasSubstr("has original_max_position_embeddings twice, as 9 and 8"));
}

TEST(ConfigEntries, AModelOfTextsAndImagesIsNamed) {
  test::SmallModel model = test::small_family("gemma3_text");
  EXPECT_THAT(message_of(model.set("gemma3_text", "gemma3").config),
              HasSubstr("'gemma3', a model of texts and images; expected 'gemma3_text'"));
}

// Newer exports say by kind of layer what older ones say in one entry each.
TEST(ConfigEntries, RotationsByKindOfLayerAreReadAsTheOlderEntries) {
  const auto older = parse_config(
      test::small_family("gemma3_text",
                         R"(,"rope_theta":500.0,"rope_scaling":{"rope_type":"linear","factor":8})")
          .config);
  const auto newer = parse_config(
      test::small_family("gemma3_text",
                         R"(,"rope_parameters":{"full_attention":{"rope_type":"linear",)"
                         R"("factor":8,"rope_theta":500.0},"sliding_attention":)"
                         R"({"rope_type":"default","rope_theta":100.0}})")
          .config);
  ASSERT_TRUE(older) << older.error().message;
  ASSERT_TRUE(newer) << newer.error().message;
  EXPECT_EQ(newer->rope, older->rope);
  EXPECT_EQ(newer->local_rope, older->local_rope);
  EXPECT_EQ(newer->scaling, older->scaling);
  EXPECT_EQ(newer->by_layer, older->by_layer);
  EXPECT_EQ(newer->local_rope.theta, 100);
  EXPECT_EQ(newer->by_layer[2].rotation, LayerRotation::main);
  EXPECT_EQ(newer->by_layer[3].rotation, LayerRotation::local);
}

// A trace says one number of rotating dimensions for all layers.
TEST(ConfigEntries, KindsOfLayersRotateAsManyDimensions) {
  const auto of = [](const std::string& full, const std::string& sliding) {
    return message_of(
        test::small_family("gemma3_text",
                           R"(,"rope_parameters":{"full_attention":{"rope_theta":1e6)" + full +
                               R"(},"sliding_attention":{"rope_theta":100)" + sliding + "}}")
            .config);
  };
  const std::string half = R"(,"partial_rotary_factor":0.5)";
  EXPECT_EQ(of("", ""), "read");
  EXPECT_EQ(of(half, half), "read");
  EXPECT_THAT(of(half, ""), HasSubstr("rotations of 8 and of 4 dimensions"));
  EXPECT_THAT(of("", half), HasSubstr("rotations of 4 and of 8 dimensions"));
}

// A missing entry has the family's own default, which null does not have.
TEST(ConfigEntries, AMissingWindowOrCapIsNotANullOne) {
  const auto of = [](const std::string& family, const std::string& from, const std::string& to) {
    return parse_config(test::small_family(family).set(from, to).config).value();
  };
  EXPECT_EQ(of("mistral", R"(,"sliding_window":7)", "").layer(0).window, 4096U);
  EXPECT_EQ(of("mistral", R"("sliding_window":7)", R"("sliding_window":null)").layer(0).window, 0U);
  const std::string qwen = R"("sliding_window":6)";
  EXPECT_EQ(of("qwen2", qwen, R"("sliding_window":null)").layer(3).window, 0U);
  EXPECT_EQ(of("qwen2", qwen + ",", "").layer(3).window, 4096U);
  EXPECT_EQ(of("qwen2", qwen, qwen).layer(3).window, 6U);
  EXPECT_EQ(of("gemma2", R"("attn_logit_softcapping":2.0,)", "").attention_cap, 50);
  EXPECT_EQ(of("gemma2", R"("attn_logit_softcapping":2.0)", R"("attn_logit_softcapping":null)")
                .attention_cap,
            0);
}

}  // namespace
}  // namespace kv::model
