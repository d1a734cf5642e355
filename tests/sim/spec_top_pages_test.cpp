// visibility=top-pages in a spec: its text, its defaults, and the settings that it allows.
#include "kvcheck/sim/spec/budgets.h"
#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv {
namespace {

using testing::HasSubstr;

Spec spec_of(const std::string& settings) {
  const auto spec = parse_spec("dense;visibility=top-pages:" + settings);
  EXPECT_TRUE(spec) << settings << ": " << (spec ? "" : spec.error().message);
  return spec.value();
}

std::string refusal(const std::string& text) {
  const auto spec = parse_spec(text);
  return spec ? "" : spec.error().message;
}

TEST(SpecTopPages, SaysHowMuchAQueryAttendsToInWhichPagesAndAfterHowManyDenseLayers) {
  EXPECT_EQ(spec_of("64/8/1").top_pages, (TopPages{64, 8, 1}));
  EXPECT_EQ(spec_of("64/8").top_pages, (TopPages{64, 8, 2}));
  EXPECT_EQ(spec_of("64").top_pages, (TopPages{64, 16, 2}));
  EXPECT_EQ(spec_of("64").top_pages.pages(), 4U);
  EXPECT_TRUE(spec_of("64").selects());
  EXPECT_FALSE(parse_spec("dense").value().selects());
}

TEST(SpecTopPages, ComesBackFromItsTextsAndTheLabelLeavesOutWhatIsUsual) {
  for (const std::string text : {"64/8/1", "48/16/2", "1024", "5/5/0", "32/16/0"}) {
    const Spec spec = spec_of(text);
    EXPECT_EQ(parse_spec(spec.canonical()).value(), spec) << text;
    EXPECT_EQ(parse_spec(spec.label()).value(), spec) << text;
  }
  EXPECT_THAT(spec_of("64").canonical(), HasSubstr(";visibility=top-pages:64/16/2;"));
  EXPECT_EQ(spec_of("64/16/2").label(), "dense;visibility=top-pages:64");
  EXPECT_EQ(spec_of("64/8/2").label(), "dense;visibility=top-pages:64/8");
  EXPECT_EQ(spec_of("64/16/0").label(), "dense;visibility=top-pages:64/16/0");
  EXPECT_EQ(parse_spec("@quest").value(), spec_of("1024/16/2"));
}

TEST(SpecTopPages, RefusesWhatHasNoMeaningAndSaysWhatIsExpected) {
  const std::string pages = ";visibility=top-pages:32";
  EXPECT_THAT(refusal("dense;visibility=top-pages"), HasSubstr("expected it as in top-pages:1024"));
  EXPECT_THAT(refusal("@quest:budget=64"),
              HasSubstr("how much its queries select is visibility=top-pages:64"));
  EXPECT_THAT(refusal("dense:budget=64;visibility=window"), HasSubstr("dense takes none"));
  EXPECT_THAT(refusal("dense;visibility=top-page:4"),
              HasSubstr("did you mean 'top-pages:ATTENDED'?"));
  EXPECT_THAT(refusal("dense" + pages + "/5"),
              HasSubstr("expected a multiple of 5 tokens, found 32"));
  EXPECT_THAT(refusal("dense;visibility=top-pages:8"), HasSubstr("expected a multiple of 16"));
  EXPECT_THAT(refusal("dense" + pages + "/0"), HasSubstr("the page of visibility=top-pages"));
  EXPECT_THAT(refusal("dense;visibility=top-pages:0"), HasSubstr("the attended tokens"));
  EXPECT_THAT(refusal("dense" + pages + "/16/x"), HasSubstr("the dense layers"));
  EXPECT_THAT(refusal("dense" + pages + "/16/2/3"), HasSubstr("expected ATTENDED/PAGE/DENSE"));
  EXPECT_THAT(refusal("h2o" + pages), HasSubstr("expected the policy dense, found h2o"));
  EXPECT_THAT(refusal("dense" + pages + ";positions=in-cache"),
              HasSubstr("expected positions=absolute, found positions=in-cache"));
  EXPECT_THAT(refusal("dense" + pages + ";unit=model"), HasSubstr("found unit=model"));
  EXPECT_EQ(refusal("dense" + pages + ";unit=layer;chunk=7"), "");
}

TEST(SpecTopPages, AreCausalInTheFirstLayers) {
  const Spec spec = spec_of("32/16/2");
  const HeadGrid grid{.layers = 4, .kv_heads = 2};
  EXPECT_EQ(unit_spec(spec, grid, {1, 1}).canonical(), parse_spec("dense")->canonical());
  EXPECT_EQ(unit_spec(spec, grid, {2, 0}).canonical(), spec.canonical());
}

}  // namespace
}  // namespace kv
