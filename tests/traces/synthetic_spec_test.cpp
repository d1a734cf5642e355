// The text of a synthetic stream, forth and back.
#include <rapidcheck.h>

#include "kvcheck/tests/traces/synthetic_helpers.h"

namespace kv::synthetic_test {
namespace {

std::string error_of(std::string_view text) {
  const auto spec = parse_synthetic(text);
  return spec ? "no error" : spec.error().message;
}

TEST(SyntheticSpec, PrintsEveryFieldAndReadsItBack) {
  const SyntheticSpec spec =
      spec_of("zipf:tokens=512,layers=2,heads=6,kv_heads=3,exponent=1.25,seed=7,kind=qkv");
  EXPECT_EQ(spec.canonical(),
            "zipf:tokens=512,layers=2,heads=6,kv_heads=3,head_dim=32,seed=7,kind=qkv,dtype=f32,"
            "rope=none,hitters=32,exponent=1.25,mass=0.6,within=256,decay=32,noise=0.5");
  EXPECT_EQ(spec_of(spec.canonical()), spec);
}

TEST(SyntheticSpec, FillsInDefaults) {
  EXPECT_EQ(spec_of("uniform"), spec_of("uniform:"));
  EXPECT_EQ(spec_of("uniform"), spec_of("uniform:tokens=1024,heads=4,kv_heads=4,seed=1,noise=0.5"));
  EXPECT_EQ(spec_of("ties:heads=6").kv_heads, 6U);
}

TEST(SyntheticSpec, ReadsBackWhateverItPrints) {
  EXPECT_TRUE(rc::check("parse(canonical(spec)) == spec", [] {
    const std::vector<std::string> texts = small_specs();
    SyntheticSpec spec = spec_of(*rc::gen::elementOf(texts));
    spec.seed = *rc::gen::resize(100, rc::gen::arbitrary<std::uint64_t>());
    spec.layers = *rc::gen::resize(100, rc::gen::inRange<std::size_t>(1, 1025));
    spec.rope = *rc::gen::element(RopeLayout::none, RopeLayout::half, RopeLayout::interleaved);
    for (std::size_t i = 0; i < spec.values.size(); ++i) {
      if (spec.generator->parameters[i].whole) continue;
      const double share = *rc::gen::resize(100, rc::gen::inRange(0, 1000001)) / 1e6;
      const auto& [low, high] =
          std::pair(spec.generator->parameters[i].minimum, spec.generator->parameters[i].maximum);
      spec.values[i] = low + share * (high - low);
    }
    RC_ASSERT(spec_of(spec.canonical()) == spec);
  }));
}

TEST(SyntheticSpec, NamesTheNearestRightWord) {
  EXPECT_THAT(error_of("zpif"),
              testing::HasSubstr("unknown generator 'zpif'; did you mean 'zipf'"));
  EXPECT_THAT(error_of("zipf,tokens=5"), testing::HasSubstr("did you mean 'zipf:tokens=5'?"));
  EXPECT_THAT(error_of("zpif,tokens=5"), testing::HasSubstr("(there are sink-recency, zipf, "));
  EXPECT_THAT(error_of("zipf:token=5"),
              testing::HasSubstr("unknown field of 'zipf' 'token'; did you mean 'tokens'"));
  EXPECT_THAT(error_of("zipf:kind=rows"), testing::HasSubstr("unknown kind 'rows'"));
  EXPECT_THAT(error_of("zipf:rope=halv"), testing::HasSubstr("did you mean 'half'"));
  EXPECT_THAT(error_of("zipf:sinks=4"), testing::HasSubstr("unknown field of 'zipf' 'sinks'"));
}

TEST(SyntheticSpec, RefusesWrongNumbers) {
  EXPECT_THAT(error_of("zipf:tokens=0"), testing::HasSubstr("tokens is '0'"));
  EXPECT_THAT(error_of("zipf:tokens=65537"), testing::HasSubstr("from 1 to 65536"));
  EXPECT_THAT(error_of("zipf:tokens=-3"), testing::HasSubstr("'-3'"));
  EXPECT_THAT(error_of("zipf:tokens"), testing::HasSubstr("tokens is ''"));
  EXPECT_THAT(error_of("zipf:mass=1.01"), testing::HasSubstr("from 0 to 1"));
  EXPECT_THAT(error_of("zipf:mass=nan"), testing::HasSubstr("mass is 'nan'"));
  EXPECT_THAT(error_of("zipf:seed=18446744073709551616"), testing::HasSubstr("seed is"));
  EXPECT_THAT(error_of("zipf:seed=1,seed=2"), testing::HasSubstr("'seed' is given twice"));
  EXPECT_THAT(error_of("zipf:,"), testing::HasSubstr("unknown field"));
  EXPECT_EQ(parse_synthetic("zipf:mass=2").error().kind, Error::Kind::usage);
}

TEST(SyntheticSpec, RefusesFieldsThatContradictEachOther) {
  EXPECT_THAT(error_of("zipf:heads=4,kv_heads=3"), testing::HasSubstr("does not divide heads=4"));
  EXPECT_THAT(error_of("zipf:hitters=9,within=8"), testing::HasSubstr("above within=8"));
  EXPECT_THAT(error_of("drift:hitters=9,period=8"), testing::HasSubstr("above period=8"));
  EXPECT_THAT(error_of("topics:anchors=9,block=8"), testing::HasSubstr("above block=8"));
  EXPECT_THAT(error_of("one-hot:budget=8,recent=9"), testing::HasSubstr("above budget=8"));
  EXPECT_THAT(error_of("needle:position=500"), testing::HasSubstr("expected at least"));
  EXPECT_THAT(
      error_of("needle:tokens=512"),
      testing::HasSubstr(
          "after the last of 512 tokens; expected at most 511, and it is 512 if it is not given"));
  EXPECT_THAT(error_of("zipf:kind=qkv,dtype=f16"), testing::HasSubstr("dtype=f16"));
  EXPECT_THAT(error_of("one-hot:kind=qkv,head_dim=28"), testing::HasSubstr("in 29 dimensions"));
  EXPECT_EQ(error_of("one-hot:kind=qkv,head_dim=29"), "no error");
}

TEST(SyntheticSpec, RefusesTracesAboveItsLimit) {
  const auto stored = [](std::string_view text) {
    const auto fits = check_synthetic_bytes(parse_synthetic(text).value());
    return fits ? "no error" : fits.error().message;
  };
  EXPECT_EQ(stored("uniform:tokens=16384,heads=4"), "no error");
  EXPECT_THAT(stored("uniform:tokens=16385,heads=4"),
              testing::HasSubstr("would have 4295491600 bytes; expected at most 4294967296"));
  EXPECT_THAT(stored("uniform:tokens=65536,heads=1024,layers=1024"),
              testing::HasSubstr("bytes; expected at most"));
  EXPECT_THAT(error_of("uniform:tokens=65536,heads=1024,layers=1024,head_dim=1024,kind=qkv"),
              testing::HasSubstr("bytes; expected at most"));
}

TEST(SyntheticSpec, SurvivesAnyText) {
  EXPECT_TRUE(rc::check("any text gives a spec or one sentence", [] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(
        rc::gen::element<std::string>("zipf", "needle", ":", ",", "=", "tokens", "mass", "1e999",
                                      "-1", "65536", "rope", "half", "\n", "'", ""));
    std::string text = "zipf";
    for (const std::string& piece : pieces) text += piece;
    const auto spec = parse_synthetic(text);
    if (spec) {
      RC_ASSERT(spec_of(spec->canonical()) == *spec);
    } else {
      RC_ASSERT(!spec.error().message.empty());
      RC_ASSERT(spec.error().message.find('\n') == std::string::npos);
    }
  }));
}

}  // namespace
}  // namespace kv::synthetic_test
