// CONTRIBUTING.md's walk, third step: the entry of the policy that it adds is one that the registry
// would take, and the battery holds the policy to what the entry claims.
#include "kvcheck/policies/claims.h"
#include "kvcheck/policies/position/thin.h"
#include "kvcheck/policies/registry/registry.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/subjects/spec_subject.h"
#include "kvcheck/sim/spec/spec.h"

namespace kv::properties {
namespace {

BatteryResult battery_of(const PolicyEntry& entry) {
  Spec spec = parse_spec("fifo:sinks=1,recent=2,budget=8").value();
  spec.policy = &entry;
  spec.options = Options(entry.parameters);
  BatteryOptions options;
  options.cases = 40;
  return run_battery(*make_spec_family(spec), options).value();
}

const LawResult& result_of(const BatteryResult& report, std::string_view id) {
  return *std::ranges::find_if(report.laws,
                               [&](const LawResult& law) { return law.law->id == id; });
}

TEST(ContributingsWalk, AddsAPolicyThatHoldsWhatItClaims) {
  const PolicyEntry entry = thin_policy();
  for (const std::string_view claim : entry.claims) EXPECT_EQ(wrong_claim(claim), "");
  const BatteryResult report = battery_of(entry);
  EXPECT_TRUE(report.holds());
  EXPECT_EQ(report.count(Status::broken), 0U);
  for (const std::string_view id : {"size.full", "chunking.state"}) {
    EXPECT_EQ(result_of(report, id).status, Status::held) << id;
  }
}

// The same entry before a policy that evicts half of the middle at once.
TEST(ContributingsWalk, WouldTellAFalseClaim) {
  PolicyEntry entry = thin_policy();
  entry.make = find_policy("scissorhands")->make;
  entry.parameters = find_policy("scissorhands")->parameters;
  EXPECT_GT(battery_of(entry).count(Status::broken), 0U);
}

}  // namespace
}  // namespace kv::properties
