#include "kvcheck/reports/numbers/row_names.h"

#include "kvcheck/reports/compare/named_spec.h"
#include "kvcheck/reports/numbers/labels.h"
#include "kvcheck/sim/spec/phases.h"
#include "kvcheck/sim/spec/presets.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Spec spec_of(const std::string& words) {
  return parse_spec(words).value();
}

std::string name(const std::string& words) {
  return row_name(spec_of(words));
}

std::vector<Spec> specs_of(const std::vector<std::string>& words) {
  std::vector<Spec> specs;
  for (const std::string& one : words) specs.push_back(spec_of(one));
  return specs;
}

TEST(RowNames, APresetKeepsItsNameAtOtherBudgetsAndShares) {
  EXPECT_EQ(name("@keydiff-prompt"), "@keydiff-prompt");
  EXPECT_EQ(name("@keydiff-prompt:ratio=0.25"), "@keydiff-prompt");
  EXPECT_EQ(name("@snapkv-prompt:budget=1024"), "@snapkv-prompt");
  EXPECT_EQ(name("streaming:sinks=4,budget=64;positions=in-cache"), "@streaming-llm");
}

// Its bare name would be refused by the commands to which it is given, or mean another row there.
TEST(RowNames, APresetOfOtherSizesSaysThem) {
  EXPECT_EQ(name("snapkv:recent=16,ratio=0.25;unit=head;compress=question"),
            "@snapkv-prompt:recent=16");
  EXPECT_EQ(name("@snapkv-prompt;chunk=64"), "@snapkv-prompt chunk=64");
  EXPECT_EQ(name("@pythia-lazy:budget=64;timing=lazy:16"), "@pythia-lazy lazy:16");
  EXPECT_EQ(name("@duo:sinks=13,recent=51"), "@duo:sinks=13");
  EXPECT_EQ(name("@quest;visibility=top-pages:64/16/1"), "@quest visibility=top-pages:64/16/1");
  // The preset's own recent window is larger than this budget.
  EXPECT_EQ(name("@pos-aware:recent=16,budget=64;timing=lazy:16"), "@pos-aware:recent=16 lazy:16");
}

TEST(RowNames, OfSeveralPresetsTheNearestCounts) {
  EXPECT_EQ(name("@h2o-flexgen:sinks=2"), "@h2o-flexgen:sinks=2");
  EXPECT_EQ(name("h2o:form=mask-simulation;unit=head;chunk=2"), "@h2o-masked chunk=2");
}

TEST(RowNames, AnotherMomentOfCompressionIsAnotherSystem) {
  EXPECT_EQ(name("streaming:sinks=1,ratio=0.5;positions=in-cache;compress=prompt"),
            "streaming:sinks=1 in-cache compress=prompt");
  EXPECT_EQ(name("h2o:sinks=2;timing=lazy:8"), "h2o:sinks=2 lazy:8");
}

TEST(RowNames, APlainPolicyKeepsItsOwnName) {
  EXPECT_EQ(name("h2o"), "h2o");
  EXPECT_EQ(name("dense"), "dense");
  EXPECT_EQ(name("tova"), "tova");
  EXPECT_EQ(name("tova;unit=layer"), "@tova");
  EXPECT_EQ(name("h2o;chunk=64"), "h2o chunk=64");
}

// What all variants share is said too: beside others, the same row would have another name.
TEST(RowNames, DoNotDependOnWhatIsBesideThem) {
  const auto both = specs_of({"h2o:sinks=2", "h2o:sinks=2;timing=lazy:8"});
  EXPECT_THAT(names_of(both), ElementsAre("h2o:sinks=2", "h2o:sinks=2 lazy:8"));
  EXPECT_EQ(names_of(std::span(both).last(1)).front(), "h2o:sinks=2 lazy:8");
}

TEST(RowNames, AreThoseOfTheTextAfterAPromptIsKnown) {
  const Spec spec = spec_of("@snapkv-prompt");
  const Spec sized = resolved(spec, {.prompt = 100, .question = 4}, 120, "a stream").value();
  EXPECT_NE(sized, spec);
  EXPECT_EQ(unresolved(sized), spec);
  EXPECT_EQ(row_name(sized), "@snapkv-prompt");
  EXPECT_TRUE(names_spec("snapkv:recent=32,ratio=0.5;unit=head;compress=question", sized));
}

// Every preset and every of its neighbours is found again by what tables call it.
TEST(RowNames, MeanTheSpecThatHasThem) {
  std::vector<Spec> specs;
  for (const Preset& preset : presets()) {
    const std::string words = "@" + std::string(preset.name);
    for (const std::string more : {"", ";chunk=4", ":sinks=3", ":recent=40,budget=70"}) {
      const auto spec = parse_spec(words + more);
      if (spec && std::ranges::find(specs, *spec) == specs.end()) specs.push_back(*spec);
    }
  }
  const std::vector<std::string> names = names_of(specs);
  const std::vector<std::string> labels = labels_of(specs);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string there = names[i] + " at " + specs[i].budget_text();
    for (const std::string& words : {names[i], labels[i], there}) {
      const std::vector<bool> meant = named_among(words, specs);
      EXPECT_TRUE(meant[i]) << words;
      for (std::size_t k = 0; k < specs.size(); ++k) {
        EXPECT_TRUE(!meant[k] || names[k] == names[i]) << words << " means " << names[k];
      }
    }
  }
}

// A legend leaves out the chunk that all have, and may end in a budget.
TEST(NamedAmong, LegendsOfOneChunkName) {
  const auto specs = specs_of(
      {"tova:budget=64;unit=layer;chunk=16", "h2o:budget=64;chunk=16", "h2o:budget=32;chunk=16"});
  EXPECT_THAT(named_among("@tova", specs), ElementsAre(true, false, false));
  EXPECT_THAT(named_among("h2o (32)", specs), ElementsAre(false, false, true));
  EXPECT_THAT(named_among("h2o:budget=64", specs), ElementsAre(false, true, false));
  EXPECT_THAT(named_among("h2o chunk=16 at 64", specs), ElementsAre(false, true, false));
}

// What is left out has its default if a spec has it, and any value otherwise.
TEST(NamedAmong, APartOfASpecMeansThoseThatHaveIt) {
  const auto specs = specs_of({"streaming:sinks=2,recent=28", "streaming:sinks=3,recent=60",
                               "streaming:sinks=2,recent=28;timing=lazy:32",
                               "streaming:sinks=3,recent=60;timing=lazy:32", "h2o:sinks=4"});
  EXPECT_THAT(named_among("streaming;timing=lazy:32", specs),
              ElementsAre(false, false, true, true, false));
  EXPECT_THAT(named_among("streaming:recent=60", specs),
              ElementsAre(false, true, false, true, false));
  EXPECT_THAT(named_among("streaming:sinks=2", specs),
              ElementsAre(true, false, false, false, false));  // that with the default timing
  for (const std::string none : {"streaming:sinks=4", "streaming;timing=lazy:33",
                                 "streaming:sink=2", "h2o;timing=lazy:32", "h2o:sinks=2"}) {
    EXPECT_THAT(named_among(none, specs), ElementsAre(false, false, false, false, false)) << none;
  }
}

// "streaming" is also the policy of the other one.
TEST(SpecsNamed, AWholeNameIsOneSpec) {
  MeasuredTexts all;
  for (const Spec& spec : specs_of({"streaming", "streaming;timing=lazy:8", "h2o"})) {
    all.specs.push_back({.spec = spec, .canonical = spec.canonical()});
  }
  EXPECT_THAT(specs_named("streaming", all), ElementsAre(&all.specs[0]));
  EXPECT_THAT(specs_named("streaming lazy:8", all), ElementsAre(&all.specs[1]));
  all.specs.erase(all.specs.begin());
  EXPECT_THAT(specs_named("streaming", all), ElementsAre(&all.specs[0]));
}

TEST(NotNamed, SuggestsTheNearestNameOrSome) {
  const auto specs = specs_of({"streaming", "h2o:sinks=2", "tova;unit=layer", "streaming"});
  EXPECT_EQ(not_named("--against", "streeming", "no run has", specs),
            "--against names 'streeming', which no run has; did you mean 'streaming'?");
  EXPECT_THAT(not_named("--policies", "streeming:budget=64", "no run has", specs),
              HasSubstr("did you mean 'streaming'?"));
  EXPECT_THAT(not_named("--policies", "lru", "no run has", specs),
              testing::AllOf(testing::EndsWith("such as streaming, h2o:sinks=2, @tova"),
                             Not(HasSubstr("did you"))));
}

}  // namespace
}  // namespace kv::reports
