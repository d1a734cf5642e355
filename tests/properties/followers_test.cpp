#include <sstream>

#include "kvcheck/properties/battery/attempt.h"
#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/mutants/mutants.h"
#include "kvcheck/properties/mutants/wrong.h"
#include "kvcheck/properties/output/result_writers.h"

namespace kv::properties {
namespace {

BatteryResult checked(Family& family) {
  BatteryOptions options;
  options.cases = 20;
  auto report = run_battery(family, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

std::vector<std::string> causes_of(const BatteryResult& report) {
  std::vector<std::string> ids;
  for (const LawResult& result : report.laws) {
    const bool is_cause = result.status == Status::broken && result.follows == nullptr;
    if (is_cause) ids.emplace_back(result.law->id);
  }
  return ids;
}

TEST(Followers, OneFaultHasOneCause) {
  const auto family =
      std::ranges::find(mutants(), "evicts-before-attention", &Mutant::name)->make();
  const BatteryResult report = checked(*family);
  EXPECT_GE(report.count(Status::broken), 4U);
  EXPECT_THAT(causes_of(report), testing::ElementsAre("visible.self"));
  const auto cause =
      std::ranges::find(report.laws, "visible.self", [](const auto& r) { return r.law->id; });
  for (const LawResult& result : report.laws) {
    if (result.follows == nullptr) continue;
    EXPECT_NE(attempt(*result.law, *family, *cause->smallest).finding(), nullptr) << result.law->id;
  }
}

TEST(Followers, AreNamedWithTheirCauseAndShownInFullWhereAllIsAsked) {
  const auto family =
      std::ranges::find(mutants(), "evicts-before-attention", &Mutant::name)->make();
  const BatteryResult report = checked(*family);
  std::ostringstream brief;
  write_text(report, "kvcheck check x", brief, 0, Listing::open_laws);
  EXPECT_THAT(brief.str(), testing::HasSubstr("BROKEN  visible.self"));
  EXPECT_THAT(brief.str(), testing::Not(testing::HasSubstr("BROKEN  visible.recent")));
  EXPECT_THAT(brief.str(), testing::ContainsRegex("follow +this case also breaks visible"));
  EXPECT_THAT(brief.str(), testing::ContainsRegex("visible.recent +broken .*by the case of"));
  std::ostringstream whole;
  write_text(report, "kvcheck check x", whole);
  EXPECT_THAT(whole.str(), testing::HasSubstr("BROKEN  visible.recent"));
  std::ostringstream json;
  write_json(report, json);
  EXPECT_THAT(json.str(), testing::HasSubstr("\"follows\":\"visible.self\""));
}

// Reports a length that is one too large, and also forgets nothing at a reset.
struct TwoFaults final : Wrong {
  Answer<Done> reset() override { return Done{}; }

  std::uint64_t reported(const CacheUnit& unit) override { return unit.rows.size() + 1; }
};

TEST(Followers, ASecondFaultIsACauseOfItsOwn) {
  const auto family = of<TwoFaults>("two-faults");
  EXPECT_THAT(causes_of(checked(*family)),
              testing::IsSupersetOf({"size.stored", "operation.reset"}));
}

}  // namespace
}  // namespace kv::properties
