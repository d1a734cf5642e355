#include "kvcheck/properties/battery/battery.h"

#include <algorithm>

#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/selftest/right_subjects.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"
#include "kvcheck/tests/properties/faulty_family.h"

namespace kv::properties {
namespace {

BatteryOptions few(std::uint32_t cases = 40) {
  BatteryOptions options;
  options.cases = cases;
  return options;
}

const LawResult* result_of(const BatteryResult& report, std::string_view id) {
  for (const LawResult& result : report.laws) {
    if (result.law->id == id) return &result;
  }
  return nullptr;
}

TEST(Battery, HoldsOfARightSubject) {
  const auto family = make_faulty(Fault::none);
  const auto report = run_battery(*family, few());
  ASSERT_TRUE(report);
  for (const LawResult& result : report->laws) {
    EXPECT_NE(result.status, Status::broken)
        << result.law->id << ": " << (result.finding ? result.finding->seen : "");
  }
  EXPECT_TRUE(report->holds());
  EXPECT_GT(report->cases, 40U);
}

TEST(Battery, BreaksWithAShrunkCaseThatReproduces) {
  const auto family = make_faulty(Fault::blind);
  const auto report = run_battery(*family, few());
  ASSERT_TRUE(report);
  ASSERT_GT(report->count(Status::broken), 0U);
  EXPECT_FALSE(report->holds());
  for (const LawResult& result : report->laws) {
    if (result.status != Status::broken || !result.smallest) continue;
    EXPECT_LE(result.smallest->calls.size(), 3U) << result.reproduce;
    const auto again = reproduce(*family, result.reproduce);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(again->laws.size(), 1U);
    EXPECT_EQ(again->laws[0].status, Status::broken);
    EXPECT_EQ(again->laws[0].finding->seen, result.finding->seen);
    EXPECT_EQ(again->laws[0].reproduce, result.reproduce);
  }
}

TEST(Battery, GivesTheSameReportWhenItIsRunAgain) {
  const auto family = make_faulty(Fault::blind);
  const auto first = run_battery(*family, few());
  const auto second = run_battery(*family, few());
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->laws.size(), second->laws.size());
  for (std::size_t i = 0; i < first->laws.size(); ++i) {
    EXPECT_EQ(first->laws[i].status, second->laws[i].status);
    EXPECT_EQ(first->laws[i].cases, second->laws[i].cases);
    EXPECT_EQ(first->laws[i].reproduce, second->laws[i].reproduce);
  }
}

TEST(Battery, SaysWhatALawNeverSaw) {
  // One case only: few laws see all that they must.
  const auto family = make_faulty(Fault::none);
  const auto report = run_battery(*family, few(1));
  ASSERT_TRUE(report);
  std::size_t unseen = 0;
  for (const LawResult& result : report->laws) {
    if (result.status != Status::not_run) continue;
    EXPECT_FALSE(result.why.empty()) << result.law->id;
    unseen += result.why.starts_with("no case showed") ? 1U : 0U;
    if (result.law->must_see.eviction && result.coverage.eviction) {
      EXPECT_EQ(result.why.find("eviction"), std::string::npos) << result.law->id;
    }
  }
  EXPECT_GT(unseen, 0U);
}

TEST(Battery, WhatNeedsEvictionsDoesNotApplyToASubjectThatNeverEvicts) {
  const auto family = make_spec_family(*parse_spec("dense"));
  const auto report = run_battery(*family, few(10));
  ASSERT_TRUE(report);
  for (const LawResult& result : report->laws) {
    if (!result.law->must_see.eviction || std::holds_alternative<Measure>(result.law->check)) {
      continue;
    }
    EXPECT_EQ(result.status, Status::not_applicable) << result.law->id;
  }
}

// A family that declares something else about its shifts.
class Shifts final : public Family {
 public:
  Shifts(std::unique_ptr<Family> family, bool declared)
      : family_(std::move(family)), declared_(declared) {}

  [[nodiscard]] std::string name() const override { return family_->name(); }

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    auto contract = family_->contract(setup);
    if (contract) contract->shifts = declared_;
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    return family_->make(setup, draws);
  }

  [[nodiscard]] kv::properties::Setup requested() const override { return family_->requested(); }

 private:
  std::unique_ptr<Family> family_;
  bool declared_;
};

std::unique_ptr<Family> mutant_named(std::string_view name) {
  return std::ranges::find(mutants(), name, &Mutant::name)->make();
}

LawResult tried(Family& family, const std::string& law) {
  BatteryOptions options = few();
  options.filter = {law};
  auto report = run_battery(family, options);
  EXPECT_TRUE(report);
  return report->laws.at(0);
}

// A family that claims something that no law asks for.
class Claims final : public Family {
 public:
  Claims() : family_(make_faulty(Fault::none)) {}

  [[nodiscard]] std::string name() const override { return "dreamer"; }

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    auto contract = family_->contract(setup);
    if (contract) contract->claims.insert("constant-sise");
    return contract;
  }

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    return family_->make(setup, draws);
  }

  [[nodiscard]] kv::properties::Setup requested() const override { return family_->requested(); }

 private:
  std::unique_ptr<Family> family_;
};

TEST(Battery, RefusesAClaimThatNoLawKnows) {
  Claims family;
  const auto report = run_battery(family, few());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "the contract of dreamer has an unknown claim 'constant-sise'; did you mean "
            "'constant-size'?");
}

TEST(Battery, WhatIsRightlyRefusedIsNotApplicable) {
  const auto family = make_spec_family(*parse_spec("streaming:sinks=1,recent=3"));
  for (const char* law : {"operation.shift", "position.shift-composes"}) {
    const LawResult result = tried(*family, law);
    EXPECT_EQ(result.status, Status::not_applicable) << law;
    EXPECT_EQ(result.why, "shift is refused") << law;
    EXPECT_EQ(result.cases, 40U) << law;
  }
  const LawResult norm = tried(*family, "position.norm");
  EXPECT_EQ(norm.status, Status::not_applicable);
  EXPECT_EQ(norm.why, "no key is ever rotated again");
}

TEST(Battery, JudgesAShiftThatWasNeverDeclared) {
  Shifts family(mutant_named("shift-call-does-nothing"), false);
  EXPECT_EQ(tried(family, "operation.shift").status, Status::broken);
}

TEST(Battery, ADeclaredShiftMayNotBeRefused) {
  Shifts family(make_spec_family(*parse_spec("streaming:sinks=1,recent=3")), true);
  const LawResult result = tried(family, "operation.shift");
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_THAT(result.finding->expected, testing::HasSubstr("is done: shifts is declared"));
  const LawResult composes = tried(family, "position.shift-composes");
  EXPECT_EQ(composes.status, Status::not_run);
}

TEST(Battery, EveryLawIsTriedOrNotApplicableWithAReason) {
  for (const char* text : {"window:recent=6", "streaming:sinks=2,recent=6;timing=lazy:30",
                           "h2o:sinks=1,recent=3,budget=8;unit=layer;timing=lazy:30",
                           "reservoir:sinks=2,recent=3,budget=8;timing=trim-then-attend"}) {
    const auto family = make_spec_family(*parse_spec(text));
    BatteryOptions options = few(120);
    for (const Law& law : laws()) {
      if (!std::holds_alternative<Measure>(law.check)) options.filter.emplace_back(law.id);
    }
    const auto report = run_battery(*family, options);
    ASSERT_TRUE(report) << report.error().message;
    for (const LawResult& result : report->laws) {
      EXPECT_NE(result.status, Status::not_run)
          << text << ": " << result.law->id << ": " << result.why;
      EXPECT_NE(result.status, Status::broken) << text << ": " << result.law->id;
      EXPECT_EQ(result.status == Status::not_applicable, !result.why.empty()) << result.law->id;
    }
  }
}

TEST(Battery, StopsWhenTimeRunsOut) {
  const auto family = make_faulty(Fault::none);
  BatteryOptions options = few();
  double time = 0;
  options.clock = [&] { return time += 1; };
  options.seconds = 5;
  const auto report = run_battery(*family, options);
  ASSERT_TRUE(report);
  EXPECT_LE(report->cases, 6U);
  EXPECT_FALSE(report->holds());
  const LawResult* survives = result_of(*report, "survives");
  ASSERT_NE(survives, nullptr);
  EXPECT_EQ(survives->status, Status::not_run);
  EXPECT_THAT(survives->why, testing::StartsWith("time ran out after "));
}

TEST(Battery, TriesWhatTheFilterNames) {
  const auto family = make_faulty(Fault::none);
  BatteryOptions options = few();
  options.filter = {"surv*"};
  const auto report = run_battery(*family, options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->laws.size(), 1U);
  EXPECT_EQ(report->laws[0].law->id, "survives");
  EXPECT_EQ(report->laws[0].status, Status::held);
  EXPECT_EQ(report->laws[0].cases, 40U);
  options.filter = {"survivs"};
  const auto unknown = run_battery(*family, options);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("did you mean 'survives'?"));
}

TEST(Battery, TellsItsProgress) {
  const auto family = make_faulty(Fault::none);
  BatteryOptions options = few();
  std::size_t reported = 0;
  options.progress = [&](double share, std::string_view what) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
    EXPECT_FALSE(what.empty());
    ++reported;
  };
  ASSERT_TRUE(run_battery(*family, options));
  EXPECT_GT(reported, 0U);
}

}  // namespace
}  // namespace kv::properties
