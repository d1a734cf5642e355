#include "kvcheck/sim/spec/spec.h"

#include <rapidcheck.h>

#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/tests/policies/every_policy.h"

namespace kv {
namespace {

std::string canonical(std::string_view text, const SpecDefaults& defaults = {}) {
  const auto spec = parse_spec(text, defaults);
  return spec ? spec.value().canonical() : "error: " + spec.error().message;
}

std::string label(std::string_view text) {
  return parse_spec(text).value().label();
}

// The error's sentence; empty if the text parses.
std::string error_of(std::string_view text, const SpecDefaults& defaults = {}) {
  const auto spec = parse_spec(text, defaults);
  if (spec) return "";
  EXPECT_EQ(spec.error().kind, Error::Kind::usage);
  EXPECT_EQ(spec.error().message.find('\n'), std::string::npos);
  return spec.error().message;
}

constexpr std::string_view usual =
    ";timing=attend-then-trim;visibility=causal;positions=absolute;unit=kv-head;"
    "budgets=equal;vectors=kept;chunk="
    "1";

std::string with_usual(std::string_view head) {
  return std::string(head) + std::string(usual);
}

TEST(ParseSpec, WritesEveryFieldInAFixedOrder) {
  EXPECT_EQ(canonical("reservoir:budget=64,recent=28,sinks=4"),
            with_usual("reservoir:sinks=4,recent=28,budget=64,algorithm=r"));
  EXPECT_EQ(canonical("h2o;chunk=7;unit=layer;positions=in-cache;visibility=window;timing=lazy:64"),
            "h2o:sinks=0,recent=128,budget=256,form=real-drop,normalise=none;timing=lazy:64;"
            "visibility=window;"
            "positions=in-cache;unit=layer;budgets=equal;vectors=kept;chunk=7");
  EXPECT_EQ(canonical("streaming:recent=60"), with_usual("streaming:sinks=4,recent=60"));
  EXPECT_EQ(canonical("window:recent=64"), with_usual("window:recent=64"));
  EXPECT_EQ(canonical("dense"), with_usual("dense"));
}

TEST(ParseSpec, FillsTheSizesThatAreLeftOut) {
  EXPECT_EQ(canonical("streaming"), with_usual("streaming:sinks=4,recent=252"));
  EXPECT_EQ(canonical("streaming:budget=64"), with_usual("streaming:sinks=4,recent=60"));
  EXPECT_EQ(canonical("window"), with_usual("window:recent=256"));
  EXPECT_EQ(canonical("random:budget=13"), with_usual("random:sinks=4,recent=4,budget=13"));
  EXPECT_EQ(canonical("tova"), with_usual("tova:sinks=0,recent=0,budget=256"));
  EXPECT_EQ(canonical("h2o", {.budget = 64}),
            with_usual("h2o:sinks=0,recent=32,budget=64,form=real-drop,normalise=none"));
  EXPECT_EQ(canonical("dense", {.budget = 64}), with_usual("dense"));
  EXPECT_EQ(parse_spec("dense").value().budget, 0U);
  EXPECT_EQ(parse_spec("tova", {.chunk = 9}).value().chunk, 9U);
}

TEST(ParseSpec, TakesTheSameSizeTwiceOnlyIfBothAgree) {
  EXPECT_EQ(error_of("streaming:recent=60", {.budget = 64}), "");
  EXPECT_EQ(error_of("h2o:budget=64;chunk=2", {.budget = 64, .chunk = 2}), "");
  EXPECT_EQ(error_of("streaming:sinks=4,recent=60,budget=64"), "");
  EXPECT_EQ(error_of("streaming:sinks=4,recent=60,budget=65"),
            "in spec 'streaming:sinks=4,recent=60,budget=65': budget 65 is not the 64 tokens that "
            "streaming keeps (4 sinks + 60 recent); leave out 'budget' or 'recent'");
  EXPECT_EQ(error_of("streaming:recent=60", {.budget = 65}),
            "in spec 'streaming:recent=60': the spec fixes the budget at 64, but --budget asks for "
            "65; leave out 'recent' in the spec, or --budget");
  EXPECT_EQ(error_of("@streaming-llm", {.budget = 64}),
            "in spec '@streaming-llm': the spec fixes the budget at 512, but --budget asks for 64; "
            "leave out --budget, or override the preset as in '@streaming-llm:budget=64'");
  EXPECT_EQ(error_of("h2o;chunk=2", {.chunk = 3}),
            "in spec 'h2o;chunk=2': the spec fixes the chunk at 2, but --chunk asks for 3; leave "
            "out 'chunk' in the spec, or --chunk");
}

TEST(ParseSpec, RefusesSizesThatDoNotFit) {
  EXPECT_EQ(error_of("reservoir:sinks=4,recent=8,budget=8"),
            "in spec 'reservoir:sinks=4,recent=8,budget=8': budget 8 is below the 12 protected "
            "tokens (4 sinks + 8 recent)");
  EXPECT_EQ(error_of("reservoir:sinks=4,recent=8,budget=12"), "");
  EXPECT_EQ(error_of("random:budget=3"),
            "in spec 'random:budget=3': budget 3 is below the 4 protected tokens (4 sinks)");
  EXPECT_EQ(error_of("tova:recent=300"),
            "in spec 'tova:recent=300': budget 256 (the default) is below the 300 protected tokens "
            "(300 recent)");
  EXPECT_EQ(error_of("tova", {.budget = 0xffffffff}),
            "in spec 'tova': the budget is 4294967295; expected a whole number from 1 to "
            "2147483647");
  EXPECT_NE(error_of("window:recent=0"), "");
  EXPECT_NE(error_of("streaming:sinks=2147483647,recent=2147483647"), "");
  EXPECT_EQ(error_of("streaming:sinks=1,recent=2147483646"), "");
  EXPECT_NE(error_of("streaming:budget=3"), "");
}

TEST(ParseSpec, NamesTheFieldWhoseNumberIsWrong) {
  const std::string longest(5000, '9');
  for (const std::string bad :
       {"-1", "", "1.5", "4x", " 4", "+4", "0x4", "1e3", "2147483648", longest.c_str()}) {
    EXPECT_THAT(error_of("h2o:sinks=" + bad), testing::HasSubstr("sinks is '"));
    EXPECT_THAT(error_of("h2o:recent=" + bad), testing::HasSubstr("recent is '"));
    EXPECT_THAT(error_of("h2o:budget=" + bad), testing::HasSubstr("budget is '"));
    EXPECT_THAT(error_of("h2o;chunk=" + bad), testing::HasSubstr("chunk is '"));
    EXPECT_THAT(error_of("h2o;timing=lazy:" + bad),
                testing::HasSubstr("slack of timing=lazy is '"));
  }
  EXPECT_THAT(error_of("h2o:budget=0"), testing::HasSubstr("from 1 to 2147483647"));
  EXPECT_THAT(error_of("dense;chunk=0"), testing::HasSubstr("from 1 to 2147483647"));
  EXPECT_EQ(error_of("h2o;timing=lazy:0"), "");
}

TEST(ParseSpec, GivesTheNearestRightWord) {
  EXPECT_THAT(error_of("streming"), testing::HasSubstr("did you mean 'streaming'?"));
  EXPECT_THAT(error_of("@tva"), testing::HasSubstr("unknown preset '@tva'; did you mean '@tova'?"));
  EXPECT_THAT(error_of("h2o:sink=4"), testing::HasSubstr("did you mean 'sinks'?"));
  EXPECT_THAT(error_of("h2o:normalise=ages"), testing::HasSubstr("did you mean 'age'?"));
  EXPECT_THAT(error_of("h2o;timming=lazy:4"), testing::HasSubstr("did you mean 'timing'?"));
  EXPECT_THAT(error_of("h2o;timing=lazzy:4"), testing::HasSubstr("did you mean 'lazy:N'?"));
  EXPECT_THAT(error_of("h2o;budgets=adaptiv:0.2"), testing::HasSubstr("mean 'adaptive:ALPHA'?"));
  EXPECT_THAT(error_of("h2o;visibility=windw"), testing::HasSubstr("did you mean 'window'?"));
  EXPECT_THAT(error_of("h2o;positions=incache"), testing::HasSubstr("did you mean 'in-cache'?"));
  EXPECT_THAT(error_of("h2o;unit=heads"), testing::HasSubstr("did you mean 'head'?"));
  EXPECT_THAT(error_of("h2o;timing=lazy"), testing::HasSubstr("as in lazy:64"));
}

TEST(ParseSpec, LooksForANameAmongPoliciesAndPresets) {
  EXPECT_EQ(error_of("streaming-llm"),
            "in spec 'streaming-llm': unknown policy 'streaming-llm'; did you mean "
            "'@streaming-llm'?");
  EXPECT_THAT(error_of("streaming-lm"), testing::HasSubstr("did you mean '@streaming-llm'?"));
  EXPECT_THAT(error_of("pythia-lazi:budget=4"), testing::HasSubstr("did you mean '@pythia-lazy'?"));
  EXPECT_THAT(error_of("@random"),
              testing::HasSubstr("unknown preset '@random'; did you mean 'random'?"));
  EXPECT_THAT(error_of("@h2"), testing::HasSubstr("did you mean '@h2o'?"));
}

TEST(ParseSpec, ListsAllNamesOnlyWhenNoneIsNear) {
  std::string names;
  for (const PolicyEntry& entry : policy_registry()) names += ", " + std::string(entry.name);
  EXPECT_THAT(error_of("quantum"),
              testing::EndsWith("unknown policy 'quantum' (there are " + names.substr(2) + ")"));
  EXPECT_THAT(error_of("@quantum"), testing::HasSubstr("'@quantum' (there are @streaming-llm, "));
  EXPECT_THAT(error_of("streming"), testing::Not(testing::HasSubstr("there are")));
}

TEST(ParseSpec, SpellsASpecWhoseNameIsFollowedByTheWrongSign) {
  EXPECT_EQ(error_of("h2o,budget=64"),
            "in spec 'h2o,budget=64': 'h2o' is followed by a ','; did you mean 'h2o:budget=64'?");
  EXPECT_THAT(error_of("h2o budget=64"), testing::HasSubstr("did you mean 'h2o:budget=64'?"));
  EXPECT_THAT(error_of("@tova,unit=head"), testing::HasSubstr("did you mean '@tova;unit=head'?"));
  EXPECT_THAT(error_of("h2o,timing=lazy:64,recent=2;chunk=3"),
              testing::HasSubstr("did you mean 'h2o:recent=2;timing=lazy:64;chunk=3'?"));
  EXPECT_THAT(error_of("h2,budget=64"), testing::HasSubstr("unknown policy 'h2,budget=64'"));
  EXPECT_THAT(error_of("h2o,64"), testing::HasSubstr("unknown policy 'h2o,64'"));
}

TEST(ParseSpec, ListsOnlyTheFieldsOfThatPolicy) {
  EXPECT_EQ(error_of("window:sinks=4"),
            "in spec 'window:sinks=4': unknown window field 'sinks' (there are recent, budget, "
            "ratio)");
  EXPECT_THAT(error_of("h2o:algorithm=l"),
              testing::HasSubstr("sinks, recent, budget, ratio, form, normalise)"));
  EXPECT_THAT(error_of("dense:budget=4"), testing::HasSubstr("dense takes none"));
  EXPECT_THAT(error_of("h2o:chunk=4"), testing::HasSubstr("belongs after a ';'"));
  EXPECT_THAT(error_of("h2o;budget=4"), testing::HasSubstr("belongs after the ':'"));
}

TEST(ParseSpec, RefusesWhatIsGivenTwiceOrNotAtAll) {
  EXPECT_THAT(error_of("h2o:recent=8,recent=8"), testing::HasSubstr("'recent' is given twice"));
  EXPECT_THAT(error_of("h2o;chunk=8;chunk=8"), testing::HasSubstr("'chunk' is given twice"));
  EXPECT_THAT(error_of("@tova;unit=head;unit=head"), testing::HasSubstr("'unit' is given twice"));
  for (const char* text : {"", ":", ";", "@", "h2o:", "h2o;", "h2o:,", "h2o:sinks=4,", "h2o:=4",
                           "h2o:sinks", "h2o;chunk", "=", "h2o=4", "@:", "h2o::", "@@tova"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
}

TEST(ParseSpec, NeedsARecentTokenForTheWindowsOwnKey) {
  EXPECT_THAT(error_of("tova;visibility=window"), testing::HasSubstr("needs recent >= 1"));
  EXPECT_EQ(error_of("tova:recent=1;visibility=window"), "");
  EXPECT_EQ(error_of("dense;visibility=window"), "");
}

TEST(ParseSpec, LetsFieldsAfterAPresetReplaceThePresets) {
  EXPECT_EQ(canonical("@pythia-lazy"),
            "streaming:sinks=8,recent=256;timing=lazy:64;visibility=causal;positions=absolute;"
            "unit=kv-head;budgets=equal;vectors=kept;chunk=1");
  EXPECT_EQ(canonical("@pythia-lazy:recent=512;timing=lazy:0;chunk=4"),
            "streaming:sinks=8,recent=512;timing=lazy:0;visibility=causal;positions=absolute;"
            "unit=kv-head;budgets=equal;vectors=kept;chunk=4");
  EXPECT_EQ(canonical("@streaming-llm:budget=1024"),
            "streaming:sinks=4,recent=1020;timing=attend-then-trim;visibility=causal;"
            "positions=in-cache;unit=kv-head;budgets=equal;vectors=kept;chunk=1");
  EXPECT_EQ(parse_spec("@tova;unit=head").value(), parse_spec("tova;unit=head").value());
  EXPECT_EQ(parse_spec("@h2o-sinks:budget=520").value().recent, 32U);
  EXPECT_THAT(error_of("@tova:algorithm=l"), testing::HasSubstr("unknown tova field"));
}

TEST(ParseSpec, AnswersEveryTextWithASpecOrOneSentence) {
  EXPECT_TRUE(rc::check([] {
    const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "h2o", "@tova", "streaming", "dense", ":", ";", ",", "=", "sinks", "recent", "budget",
        "timing", "lazy", "lazy:", "4", "-1", "99999999999", "\n", std::string(1, '\0'), "\xff",
        "chunk", "unit", "@", " "));
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    const auto spec = parse_spec(text);
    if (spec) {
      RC_ASSERT(parse_spec(spec.value().canonical()).value() == spec.value());
    } else {
      RC_ASSERT(spec.error().message.size() < 1000U);
      RC_ASSERT(std::ranges::none_of(spec.error().message, [](unsigned char c) { return c < 32; }));
    }
  }));
}

// Any legal spec, drawn flat over its fields.
Spec draw_spec() {
  const auto below = [](std::uint32_t bound) {
    return *rc::gen::resize(100, rc::gen::inRange<std::uint32_t>(0, bound));
  };
  const auto entries = policy_registry();
  Spec spec;
  spec.policy = &entries[below(static_cast<std::uint32_t>(entries.size()))];
  const Protection& protection = spec.policy->protection;
  spec.options = Options(spec.policy->parameters);
  for (const Parameter& parameter : spec.policy->parameters) {
    const auto others = other_values(parameter);
    const auto pick = below(static_cast<std::uint32_t>(others.size() + 1));
    if (pick < others.size()) spec.options.set(parameter.name, others[pick]);
  }
  if (protection.middle != Protection::Middle::unbounded) {
    spec.sinks = protection.takes_sinks ? below(6) : 0;
    spec.recent = 1 + below(600);
    const bool has_middle = protection.middle == Protection::Middle::some;
    spec.budget = spec.sinks + spec.recent + (has_middle ? below(600) : 0);
  }
  spec.timing = static_cast<Timing>(below(3));
  if (spec.timing == Timing::lazy) spec.slack = below(100);
  spec.visibility = static_cast<Visibility>(below(2));
  spec.positions = static_cast<Positions>(below(3));
  spec.unit = static_cast<Unit>(below(4));
  spec.chunk = 1 + below(3);
  const bool may = are_ranks(spec.positions) && spec.unit == Unit::model && spec.chunk == 1;
  if (may) spec.vectors = static_cast<Vectors>(below(2));
  return spec;
}

TEST(Canonical, ParsesBackToAnEqualSpec) {
  EXPECT_TRUE(rc::check([] {
    const Spec spec = draw_spec();
    RC_ASSERT(parse_spec(spec.canonical()).value() == spec);
  }));
}

TEST(Label, LeavesOutDefaultsAndTheBudget) {
  EXPECT_EQ(label("streaming:sinks=4,recent=60"), "streaming");
  EXPECT_EQ(label("streaming:sinks=8,recent=60"), "streaming:sinks=8");
  EXPECT_EQ(label("window:recent=64"), "window");
  EXPECT_EQ(label("reservoir:budget=64"), "reservoir");
  EXPECT_EQ(label("reservoir:budget=64,recent=28,algorithm=l"), "reservoir:recent=28,algorithm=l");
  EXPECT_EQ(label("@pythia-lazy;chunk=2"), "streaming:sinks=8;timing=lazy:64;chunk=2");
  EXPECT_EQ(label("h2o;visibility=window;positions=in-cache;unit=model"),
            "h2o;visibility=window;positions=in-cache;unit=model");
}

// Given the budget, the label says all that the canonical text does.
TEST(Label, ParsesBackToTheSameSpecBesideItsBudget) {
  EXPECT_TRUE(rc::check([] {
    const Spec spec = draw_spec();
    RC_ASSERT(parse_spec(spec.label(), {.budget = spec.budget}).value() == spec);
  }));
}

}  // namespace
}  // namespace kv
