#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/cases/child.h"
#include "kvcheck/tests/properties/faulty_family.h"

namespace kv::properties {
namespace {

BatteryResult report_of(Fault fault, double case_seconds = 20) {
  const auto family = make_faulty(fault);
  BatteryOptions options;
  options.cases = 30;
  options.case_seconds = case_seconds;
  auto report = run_battery(*family, options);
  EXPECT_TRUE(report);
  return *std::move(report);
}

const LawResult& survival(const BatteryResult& report) {
  const auto found = std::ranges::find(report.laws, "survives",
                                       [](const LawResult& result) { return result.law->id; });
  EXPECT_NE(found, report.laws.end());
  return *found;
}

TEST(Survival, FindsACrashWithTheSmallestCase) {
  const BatteryResult report = report_of(Fault::dies);
  const LawResult& result = survival(report);
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_THAT(result.finding->seen, testing::HasSubstr("died of signal"));
  EXPECT_EQ(result.smallest->text(), "sinks=0,recent=0,budget=1;stream=ties;calls=f4");
  EXPECT_EQ(result.reproduce, "survives/" + result.smallest->text());
  EXPECT_FALSE(report.holds());
  for (const LawResult& other : report.laws) {
    if (&other == &result) continue;
    EXPECT_NE(other.status, Status::broken) << other.law->id;
  }
  const auto family = make_faulty(Fault::dies);
  const auto again = reproduce(*family, result.reproduce);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->laws.front().status, Status::broken);
}

TEST(Survival, FindsAHang) {
  const BatteryResult report = report_of(Fault::hangs, 0.2);
  const LawResult& result = survival(report);
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_THAT(result.finding->seen, testing::HasSubstr("no answer"));
  EXPECT_GE(result.smallest->tokens(), 7U);
}

TEST(Survival, FindsAnExceptionAndOtherLawsAreTriedAllTheSame) {
  const BatteryResult report = report_of(Fault::throws);
  const LawResult& result = survival(report);
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_EQ(result.finding->seen, "the seventh token");
  EXPECT_EQ(result.smallest->text(), "sinks=0,recent=0,budget=1;stream=ties;calls=f7");
  EXPECT_GT(report.count(Status::held), 0U);
}

TEST(Survival, FindsFactsOfTheWrongShape) {
  const BatteryResult report = report_of(Fault::misshapen);
  const LawResult& result = survival(report);
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_EQ(result.finding->seen, "it reported 0 units; expected 1");
}

TEST(Survival, TellsHowAChildEnded) {
  EXPECT_EQ(run_in_child([] {}, {}), "");
  EXPECT_EQ(run_in_child([] { throw std::runtime_error("why"); }, {}), "it threw: why");
  EXPECT_EQ(run_in_child([] { std::_Exit(3); }, {}), "it left the process with status 3");
  EXPECT_THAT(run_in_child([] { std::abort(); }, {}), testing::HasSubstr("died of signal 6"));
  EXPECT_EQ(run_in_child(
                [] {
                  stay_alive(0.05);
                  for (volatile bool forever = true; forever;) continue;
                },
                {}),
            "it gave no answer in time");
}

TEST(Survival, ChildrenShareMemoryAndNothingElse) {
  const SharedMemory memory(sizeof(int) * 4);
  auto* const shared = static_cast<int*>(memory.data());
  int own = 0;
  EXPECT_EQ(run_in_children(4,
                            [&](std::uint32_t i) {
                              shared[i] = static_cast<int>(i) + 1;
                              own = 1;
                            },
                            {}),
            "");
  EXPECT_EQ(shared[0] + shared[1] + shared[2] + shared[3], 10);
  EXPECT_EQ(own, 0);
}

}  // namespace
}  // namespace kv::properties
