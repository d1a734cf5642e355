#include <sys/wait.h>
#include <unistd.h>

#include "kvcheck/properties/battery/battery.h"
#include "kvcheck/properties/battery/battery_results.h"
#include "kvcheck/properties/cases/child.h"
#include "kvcheck/properties/cases/child_time.h"
#include "kvcheck/properties/remote/child_process.h"
#include "kvcheck/properties/stop.h"
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

// The call at which it died is that with which the shortest deadly beginning ends.
TEST(Survival, NamesTheCallOfACaseThatIsNotShrunk) {
  std::size_t later = 0;  // than the first call
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto family = make_faulty(Fault::dies);
    BatteryOptions options;
    options.cases = 30;
    options.effort.seed = seed;
    options.shrink = false;
    const auto report = run_battery(*family, options);
    ASSERT_TRUE(report);
    const LawResult& result = survival(*report);
    ASSERT_EQ(result.status, Status::broken);
    Case begun = *result.smallest;
    const std::vector<Call> calls = begun.calls;
    std::size_t shortest = 0;
    for (begun.calls.clear(); shortest < calls.size(); ++shortest) {
      if (!death_in(*result.law, *family, begun, 20).empty()) break;
      begun.calls.push_back(calls[shortest]);
    }
    EXPECT_EQ(result.finding->event, shortest - 1) << result.smallest->text();
    later += result.finding->event > 0 ? 1U : 0U;
  }
  EXPECT_GT(later, 0U);
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

TEST(Survival, FindsACacheThatWritesPastItsArray) {
  const LawResult result = survival(report_of(Fault::corrupts));
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_EQ(result.smallest->tokens(), 7U) << result.smallest->text();
  EXPECT_EQ(result.finding->event, 0U);
}

// What it may allocate is bounded, so that the call which does it is the one that fails.
TEST(Survival, FindsACacheThatAllocatesWithoutEnd) {
  const LawResult result = survival(report_of(Fault::allocates));
  ASSERT_EQ(result.status, Status::broken);
  EXPECT_THAT(result.finding->seen, testing::HasSubstr("bad_alloc"));
  EXPECT_EQ(result.smallest->text(), "sinks=0,recent=0,budget=1;stream=ties;calls=f7");
}

// Trying, shrinking, explaining and repeating: all calls are made in other processes than this one.
TEST(Survival, NoCallIsMadeInTheProcessThatChecks) {
  const BatteryResult report = report_of(Fault::apart);
  EXPECT_EQ(survival(report).status, Status::held);
  const auto broken = std::ranges::find(report.laws, Status::broken, &LawResult::status);
  ASSERT_NE(broken, report.laws.end());
  EXPECT_TRUE(broken->history.has_value());
  EXPECT_FALSE(broken->history->events.empty());
  const auto family = make_faulty(Fault::apart);
  const auto again = reproduce(*family, broken->reproduce);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->laws.front().status, Status::broken);
  EXPECT_EQ(again->laws.front().finding->seen, broken->finding->seen);
}

// What a child explains is what would be explained here.
TEST(Survival, ExplainsInAChildWhatItWouldExplainItself) {
  const BatteryResult report = report_of(Fault::blind);
  for (const LawResult& result : report.laws) {
    if (result.status != Status::broken || !result.history || result.finding->history) continue;
    const auto family = make_faulty(Fault::blind);
    const auto history = run_case(*family, result.history->what);
    ASSERT_TRUE(history);
    EXPECT_EQ(history->contract, result.history->contract);
    ASSERT_EQ(history->events.size(), result.history->events.size());
    for (std::size_t i = 0; i < history->events.size(); ++i) {
      const Event& here = history->events[i];
      const Event& there = result.history->events[i];
      EXPECT_EQ(here.call, there.call);
      EXPECT_EQ(here.branch, there.branch);
      ASSERT_EQ(here.facts.units.size(), there.facts.units.size());
      for (std::size_t unit = 0; unit < here.facts.units.size(); ++unit) {
        EXPECT_EQ(here.facts.units[unit].stored, there.facts.units[unit].stored);
        EXPECT_EQ(here.facts.units[unit].visible, there.facts.units[unit].visible);
        EXPECT_EQ(here.facts.units[unit].weights, there.facts.units[unit].weights);
      }
    }
  }
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

void hang() {
  for (volatile bool forever = true; forever;) continue;
}

TEST(Survival, TellsTheCallInWhichAChildRanOutOfTime) {
  const CallWords patient{.hangs = "observe() did not return", .slow = "too slow", .seconds = 60};
  const CallWords hasty{.hangs = "", .slow = "evict() took more than 0.05 s", .seconds = 0.05};
  const auto end_of = [](const std::function<void()>& work) { return run_in_child(work, {}); };
  EXPECT_EQ(end_of([&] {
              stay_alive(0.05);
              const TimedCall call(patient);
              hang();
            }),
            "it gave no answer in time: observe() did not return");
  for (const double seconds : {0.0, 30.0}) {
    EXPECT_EQ(end_of([&] {
                if (seconds > 0) stay_alive(seconds);
                const TimedCall outer(patient);
                const TimedCall call(hasty);
                hang();
              }),
              "it gave no answer in time: evict() took more than 0.05 s");
  }
}

TEST(Survival, ACallThatReturnsLeavesTheTimeOfTheChild) {
  const CallWords words{.hangs = "", .slow = "slow", .seconds = 5};
  const auto calls = [&] {
    for (int i = 0; i < 3; ++i) {
      const TimedCall call(words);
    }
  };
  EXPECT_EQ(run_in_child(
                [&] {
                  stay_alive(0.1);
                  calls();
                  hang();
                },
                {}),
            "it gave no answer in time");
  EXPECT_EQ(run_in_child(calls, {}), "");  // without a limit of the child
  // No child: the timer of this process is not touched.
  const TimedCall none({.hangs = "", .slow = "", .seconds = 0.001});
  ::usleep(20'000);
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

bool yes() {
  return true;
}

TEST(Stopping, EndsAChildThatIsWaitedFor) {
  const StopWhen stop(yes);
  EXPECT_THROW(run_in_child(
                   [] {
                     for (volatile bool forever = true; forever;) continue;
                   },
                   {}),
               Interrupted);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "the child is still there";
}

TEST(Stopping, EndsTheWaitForAProgram) {
  const auto silent = Child::run_command("exec sleep 100");
  ASSERT_TRUE(silent);
  const StopWhen stop(yes);
  EXPECT_THROW(static_cast<void>((*silent)->ask("a question", 100, 100)), Interrupted);
}

}  // namespace
}  // namespace kv::properties
