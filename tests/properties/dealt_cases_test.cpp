// Slow subjects: time is dealt to all laws, and what was not run is said.
#include <algorithm>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/forwarding.h"
#include "kvcheck/properties/output/result_writers.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SlowSubject final : public ForwardingSubject {
 public:
  SlowSubject(std::unique_ptr<Subject> to, double& now, double each)
      : ForwardingSubject(std::move(to)), now_(now), each_(each) {}

  Answer<Facts> feed(const Feed& feed) override {
    now_ += each_;
    return ForwardingSubject::feed(feed);
  }

  Facts look() override {
    now_ += each_;
    return ForwardingSubject::look();
  }

 private:
  double& now_;
  double each_;
};

// Each call takes its time, by a clock of the test's own.
class SlowFamily final : public ForwardingFamily {
 public:
  SlowFamily(Family& to, double each) : ForwardingFamily(to), each_(each) {}

  [[nodiscard]] std::unique_ptr<Subject> make(const kv::properties::Setup& setup,
                                              const DrawsOf& draws) override {
    return std::make_unique<SlowSubject>(ForwardingFamily::make(setup, draws), now, each_);
  }

  // Else it would be tried in a child, whose clock is another.
  [[nodiscard]] bool in_process() const override { return false; }

  double now = 1000;

 private:
  double each_;
};

BatteryResult slow_battery(double each, double seconds, bool strict = false) {
  const auto family = make_spec_family(*parse_spec("h2o:sinks=1,recent=3,budget=8"));
  SlowFamily slow(*family, each);
  BatteryOptions options;
  options.shrink = false;
  options.seconds = seconds;
  options.strict = strict;
  options.clock = [&] { return slow.now; };
  auto report = run_battery(slow, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

std::uint64_t fewest_cases(const BatteryResult& report) {
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const LawResult& result : report.laws) {
    const bool chance = std::holds_alternative<Measure>(result.law->check);
    if (chance || result.status == Status::not_applicable) continue;
    fewest = std::min(fewest, result.cases);
  }
  return fewest;
}

// 10 ms a call is what a cache in Python with a model behind it may take; 60 s is the default.
TEST(DealtCases, ASlowSubjectMeetsEveryLaw) {
  const BatteryResult report = slow_battery(0.01, 60);
  EXPECT_EQ(report.count(Status::broken), 0U);
  EXPECT_GE(fewest_cases(report), 1U);
}

TEST(DealtCases, WhereTimeCutsALawShortItSaysSo) {
  const BatteryResult report = slow_battery(0.0008, 60);
  std::size_t cut = 0;
  for (const LawResult& result : report.laws) {
    if (result.status != Status::held || result.why.empty()) continue;
    EXPECT_THAT(result.why, StartsWith("held on "));
    EXPECT_THAT(result.why, HasSubstr(" cases, as time ran out"));
    ++cut;
  }
  EXPECT_GT(cut, 0U);
}

TEST(DealtCases, WithTimeEnoughNothingIsSaid) {
  const BatteryResult report = slow_battery(0, 60);
  EXPECT_TRUE(report.complete());
  for (const LawResult& result : report.laws) {
    if (result.status != Status::held || result.measured) continue;
    EXPECT_EQ(result.why, "") << result.law->id;
  }
}

TEST(DealtCases, WhatWasNotRunIsInEveryOutput) {
  for (const bool strict : {false, true}) {
    const BatteryResult report = slow_battery(0.05, 30, strict);
    ASSERT_FALSE(report.complete());
    std::ostringstream text, json, junit;
    write_text(report, "mine", text, 0);
    write_json(report, json);
    write_junit(report, "mine", 0, junit);
    const std::string printed = text.str();
    EXPECT_THAT(printed, HasSubstr("\nNOT RUN  "));
    EXPECT_LT(printed.find("NOT RUN"), printed.find(" laws hold"));
    EXPECT_THAT(json.str(), HasSubstr("\"complete\":false"));
    EXPECT_EQ(junit.str().find("<error type=\"not-run\"") != std::string::npos, strict);
    EXPECT_EQ(junit.str().find("errors=\"0\"") == std::string::npos, strict);
  }
}

// A contract that promises and excludes the same.
class Contradiction final : public ForwardingFamily {
 public:
  Contradiction(Family& to, void (*change)(Contract&)) : ForwardingFamily(to), change_(change) {}

  [[nodiscard]] Result<Contract> contract(const kv::properties::Setup& setup) const override {
    auto contract = ForwardingFamily::contract(setup);
    if (contract) change_(*contract);
    return contract;
  }

 private:
  void (*change_)(Contract&);
};

std::string refused_for(void (*change)(Contract&)) {
  const auto family = make_spec_family(*parse_spec("h2o:sinks=1,recent=3,budget=8"));
  Contradiction wrong(*family, change);
  const auto report = run_battery(wrong, {});
  return report ? "" : report.error().message;
}

TEST(Battery, RefusesAContractThatContradictsItself) {
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.claims.insert("constant-size");
                contract.keeps_fewer = true;
              }),
              HasSubstr("claims constant-size and declares keeps-fewer"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.claims.insert("deterministic");
                contract.random = true;
              }),
              HasSubstr("claims deterministic and declares random"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.claims.insert("uniform");
                contract.claims.insert("age-geometric");
              }),
              HasSubstr("claims uniform and age-geometric"));
  EXPECT_THAT(refused_for([](Contract& contract) { contract.first_chunk = 9; }),
              HasSubstr("declares a first-chunk and no longest-chunk"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.longest_chunk = 9;
                contract.first_chunk = 9;
              }),
              HasSubstr("a first-chunk that is no longer than its longest-chunk"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.claims.clear();
                contract.evicts_ahead = true;
                contract.keeps_fewer = true;
              }),
              HasSubstr("declares evicts-ahead and keeps-fewer"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.evicts_ahead = true;
                contract.timing = Timing::lazy;
              }),
              HasSubstr("declares evicts-ahead and another timing"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.compress = Compress::prompt_hold;
                contract.visibility = Visibility::window;
              }),
              HasSubstr("compress=prompt+hold and another visibility than causal"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.compress = Compress::prompt_grow;
                contract.visibility = Visibility::causal;
                contract.claims.insert("constant-size");
              }),
              HasSubstr("compress=prompt+grow and claims constant-size"));
  EXPECT_THAT(refused_for([](Contract& contract) { contract.ratio = 500; }),
              HasSubstr("declares a ratio and compress=always"));
  EXPECT_THAT(refused_for([](Contract& contract) {
                contract.mean_budget = 9;
                contract.set_budgets({8, 10});
              }),
              HasSubstr("declares mean-budget and a budget for each unit"));
}

}  // namespace
}  // namespace kv::properties
