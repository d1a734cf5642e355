// The laws of chance over whole families: they hold of right ones and tell wrong ones apart.
#include <gtest/gtest.h>

#include <algorithm>

#include "kvcheck/properties/battery/result_phrases.h"
#include "kvcheck/properties/laws/judging/law_groups.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

const Law& law_named(std::string_view id) {
  static const Laws laws = statistical_laws;
  const auto found = std::ranges::find(laws, id, &Law::id);
  EXPECT_NE(found, laws.end()) << id;
  return *found;
}

StatisticalVerdict measured(std::string_view id, Family& family) {
  return std::get<Measure>(law_named(id).check)(family, {.level = Level::quick, .seed = 3});
}

// A family that runs one spec and claims something else of it, and may meddle with draws.
class Claiming : public Family {
 public:
  Claiming(const char* spec, std::set<std::string, std::less<>> claims)
      : inner_(make_spec_family(*parse_spec(spec))), claims_(std::move(claims)) {}

  [[nodiscard]] std::string name() const override { return "claiming"; }

  [[nodiscard]] Result<Contract> contract(const Setup& setup) const override {
    Result<Contract> contract = inner_->contract(setup);
    if (contract) contract->claims = claims_;
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const Setup& setup, const DrawsOf& draws) override {
    return inner_->make(setup, [this, draws](std::uint32_t unit) { return draws(unit_for(unit)); });
  }

  [[nodiscard]] bool uses_draws() const override { return true; }

  [[nodiscard]] Setup requested() const override { return inner_->requested(); }

 protected:
  [[nodiscard]] virtual std::uint32_t unit_for(std::uint32_t unit) const { return unit; }

 private:
  std::unique_ptr<Family> inner_;
  std::set<std::string, std::less<>> claims_;
};

// Every unit draws what the first does.
class SharingDraws final : public Claiming {
 public:
  using Claiming::Claiming;

 private:
  [[nodiscard]] std::uint32_t unit_for(std::uint32_t /*unit*/) const override { return 0; }
};

TEST(ChanceLaws, OurPoliciesKeepTheirClaims) {
  for (const char* text : {"reservoir:sinks=4,recent=4,budget=16", "random:sinks=4,budget=16",
                           "reservoir:budget=16,algorithm=bottom-k"}) {
    const auto family = make_spec_family(*parse_spec(text));
    const Contract contract = *family->contract(family->requested());
    for (const Law& law : statistical_laws) {
      if (law.why_not(contract)) continue;
      const StatisticalVerdict verdict = measured(law.id, *family);
      EXPECT_FALSE(verdict.broken) << text << " " << law.id << ": " << verdict.sentence;
      // Real keys cannot be enumerated. A verdict without this law is complete.
      EXPECT_EQ(verdict.cannot, law.id == "chance.exact" && family->name().ends_with("bottom-k"))
          << text << " " << law.id;
      EXPECT_TRUE(verdict.ran || verdict.cannot) << verdict.why_not;
      EXPECT_FALSE(verdict.ran && verdict.sentence.empty());
    }
  }
}

TEST(ChanceLaws, ThePrintedReservoirIsNamed) {
  const auto family =
      make_spec_family(*parse_spec("reservoir-as-printed:sinks=4,recent=28,budget=64"));
  const StatisticalVerdict verdict = measured("chance.inclusion", *family);
  EXPECT_TRUE(verdict.broken);
  EXPECT_NE(verdict.sentence.find("inclusion falls geometrically with age: (4/5)^age"),
            std::string::npos)
      << verdict.sentence;
  // One statistic, and which test's: the token's own deviation is another one.
  EXPECT_NE(verdict.sentence.find("; test T1: p "), std::string::npos) << verdict.sentence;
  EXPECT_EQ(verdict.sentence.find("z ="), std::string::npos) << verdict.sentence;
  EXPECT_NE(verdict.smallest.find("n=8 k=4"), std::string::npos) << verdict.smallest;
  const StatisticalVerdict exact = measured("chance.exact", *family);
  EXPECT_TRUE(exact.broken);
  EXPECT_NE(exact.sentence.find("instead of"), std::string::npos);
  EXPECT_TRUE(measured("chance.acceptance", *family).broken);
  EXPECT_TRUE(measured("chance.contrasts", *family).broken);
  EXPECT_FALSE(measured("chance.age-rank", *family).broken);
}

TEST(ChanceLaws, AgeLawsAreDistinguished) {
  Claiming random("random:sinks=1,recent=2,budget=7", {"age-geometric"});
  EXPECT_TRUE(measured("chance.age-law", random).broken);
  Claiming printed("reservoir-as-printed:budget=16", {"age-geometric", "admits-newcomers"});
  EXPECT_TRUE(measured("chance.age-law", printed).broken);
  EXPECT_TRUE(measured("chance.acceptance", printed).broken);
  Claiming reservoir("reservoir:budget=16", {"age-geometric"});
  const StatisticalVerdict verdict = measured("chance.age-law", reservoir);
  EXPECT_TRUE(verdict.broken);
  EXPECT_NE(verdict.sentence.find("kept alike"), std::string::npos) << verdict.sentence;
}

TEST(ChanceLaws, ChunksOfThePrintedReservoir) {
  Claiming family("reservoir-as-printed:budget=16", {"age-geometric", "chunk-invariant"});
  EXPECT_TRUE(measured("chance.chunks", family).broken);
}

TEST(ChanceLaws, SharedDrawsAreSeen) {
  SharingDraws family("reservoir:budget=16", {"uniform"});
  const StatisticalVerdict verdict = measured("chance.independence", family);
  EXPECT_TRUE(verdict.broken);
  EXPECT_NE(verdict.sentence.find("correlation"), std::string::npos);
  EXPECT_FALSE(measured("chance.inclusion", family).broken);
}

TEST(ChanceLaws, DoNotApplyWhereNothingIsClaimed) {
  const Contract contract = contract_of(*parse_spec("h2o:budget=32"));
  for (const Law& law : statistical_laws) {
    EXPECT_TRUE(law.why_not(contract).has_value()) << law.id;
    EXPECT_FALSE(law.sentence.empty() || law.why.empty() || law.seen_in.empty());
  }
}

TEST(Statistics, SayOfATinyPThatItIsBelowWhatANumberHolds) {
  const Statistic tested{.name = "T1", .what = "inclusion", .value = 99, .p = 0, .level = 1e-9};
  EXPECT_EQ(words_of(tested), "T1 inclusion: 99, p < 1e-300, rejects below 1e-09");
  const Statistic counted{.name = "TV", .what = "exact law", .value = 0.5, .p = 0, .level = 0};
  EXPECT_EQ(words_of(counted), "TV exact law: 0.5");
}

}  // namespace
}  // namespace kv::properties
