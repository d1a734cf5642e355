// Every family against an independent forward pass written from its public sources
// (tests/model/reference_families.py): models with every option on and texts that are longer than
// windows and first contexts.
#include "kvcheck/tests/model/against_numpy.h"
#include "kvcheck/tests/model/small_families.h"

namespace kv::model {
namespace {

// What the order of sums in f32 costs, relative to the largest logit.
constexpr double rounding = 2e-6;

std::vector<NumpyCase> cases() {
  const auto of = [](const std::string& spec, DecoderOptions options = {},
                     double bound = rounding) {
    return NumpyCase{.spec = spec, .options = options, .bound = bound, .tokens = 48};
  };
  const DecoderOptions raw{.keys = KeyStorage::raw};
  return {of("dense"),
          of("dense;chunk=7"),
          of("dense;chunk=5", raw),
          of("streaming:sinks=2,recent=9;chunk=5"),
          of("streaming:sinks=2,recent=9;positions=in-cache"),
          of("window:recent=8;visibility=window;chunk=6;positions=in-cache"),
          of("h2o:sinks=1,recent=4,budget=12;timing=lazy:3;chunk=3"),
          of("reservoir:sinks=1,recent=4,budget=12;positions=in-cache;chunk=3", raw),
          of("h2o:recent=4,budget=12;unit=head"),
          of("dense;chunk=7", {.storage = Number::f16}, 5e-3),
          of("dense;chunk=7", {.storage = parse_kv_format("int8").value()}, 4e-2)};
}

class Families : public NumpyTest, public testing::WithParamInterface<std::string> {};

TEST_P(Families, AgreeWithNumPy) {
  EXPECT_TRUE(agrees(test::small_family(GetParam()), cases()));
}

TEST_P(Families, KeysShiftedInPlaceAgreeWithNumPy) {
  if (GetParam() == "gpt_neo") GTEST_SKIP() << "its keys carry no rotation";
  const std::string streaming = "streaming:sinks=2,recent=9;positions=shifted;chunk=5";
  EXPECT_TRUE(agrees(test::small_family(GetParam()), {{.spec = streaming, .tokens = 48}}));
}

INSTANTIATE_TEST_SUITE_P(All,
                         Families,
                         testing::ValuesIn(test::small_family_names()),
                         [](const auto& one) { return one.param; });

class Rotations : public NumpyTest, public testing::WithParamInterface<std::string> {};

TEST_P(Rotations, AgreeWithNumPyWithinTheFirstContextAndPastIt) {
  const std::string scaling = R"(,"rope_scaling":)" + GetParam();
  for (const std::string family : {"llama", "gemma3_text", "olmo2", "granite"}) {
    const auto small = test::small_family(family, scaling);
    EXPECT_TRUE(agrees(small, {{.spec = "dense;chunk=7", .bound = rounding, .tokens = 12},
                               {.spec = "dense;chunk=7", .bound = rounding, .tokens = 60}}))
        << family << scaling;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Rotations,
    testing::Values(
        R"({"rope_type":"linear","factor":3.0})",
        R"({"rope_type":"dynamic","factor":2.5})",
        R"({"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
        R"("original_max_position_embeddings":64})",
        R"({"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":16})",
        R"({"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":512,)"
        R"("beta_fast":4.0,"beta_slow":0.1})",
        R"({"type":"yarn","factor":8.0,"beta_fast":2.0,"beta_slow":0.25,"truncate":false,)"
        R"("mscale":0.7,"mscale_all_dim":0.3})",
        R"({"rope_type":"yarn","factor":2.0,"attention_factor":1.3})"));

class FamilyVariants : public NumpyTest {};

// Three quarters of a head's dimensions, by lists of factors for short and for long texts.
TEST_F(FamilyVariants, LongRopeAgreesWithNumPy) {
  const std::string scaling = R"(,"original_max_position_embeddings":16,"rope_scaling":{)"
                              R"("type":"su","short_factor":[1.0,1.1,1.5],)"
                              R"("long_factor":[1.5,4.0,8.0]})";
  const auto phi3 = test::small_family("phi3", scaling);
  EXPECT_TRUE(agrees(phi3, {{.spec = "dense;chunk=7", .bound = rounding, .tokens = 16},
                            {.spec = "dense;chunk=7", .bound = rounding, .tokens = 17},
                            {.spec = "dense;chunk=7", .bound = rounding, .tokens = 50}}));
  const std::string cached = "streaming:sinks=2,recent=9;positions=in-cache";
  EXPECT_TRUE(agrees(phi3, {{.spec = cached, .bound = rounding, .tokens = 50}}));
}

TEST_F(FamilyVariants, StableLmInParallelAgreesWithNumPy) {
  const auto small = test::small_family("stablelm", R"(,"use_parallel_residual":true)");
  EXPECT_TRUE(agrees(small, {{.spec = "dense;chunk=7", .bound = rounding, .tokens = 40}}));
}

TEST_F(FamilyVariants, Gpt2ScalesItsAttentionAsConfigured) {
  for (const std::string entry :
       {R"("scale_attn_weights":false,)", R"("scale_attn_by_inverse_layer_idx":true,)",
        R"("scale_attn_weights":false,"scale_attn_by_inverse_layer_idx":true,)"}) {
    const auto small = test::small_gpt2().set("\"n_embd\"", entry + "\"n_embd\"");
    EXPECT_TRUE(agrees(small, {{.spec = "dense;chunk=7", .bound = rounding, .tokens = 40}}))
        << entry;
  }
}

}  // namespace
}  // namespace kv::model
