#include "kvcheck/properties/cases/core_wait.h"

#include <unistd.h>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/tests/properties/served_cache.h"

namespace kv::properties {
namespace {

// Its first token takes 0.6 seconds of a core that another process uses too, for four seconds.
constexpr std::string_view busy = R"(
  def take(self, token):
    if not self.ids:
      os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
      if os.fork() == 0:
        os.setpgid(0, 0)
        end = time.monotonic() + 4
        while time.monotonic() < end: pass
        os._exit(0)
      end = time.process_time() + 0.6
      while time.process_time() < end: pass
    self.ids.append(token)
    return list(self.ids))";

TEST(CoreWait, ABusyMachineIsNoHang) {
  const auto family =
      make_process_family(cache_of(std::string(busy)), {.start_seconds = 30, .seconds = 0.9});
  ASSERT_TRUE(family) << family.error().message;
  const auto history =
      run_case(**family, *parse_case("sinks=1,recent=2,budget=5;stream=random;calls=f3,f9"));
  ASSERT_TRUE(history);
  if (history->failure.empty()) return;
  if (waited_for_cores() == 0) GTEST_SKIP() << "this system does not count the wait for cores";
  ADD_FAILURE() << history->failure;
}

TEST(CoreWait, IsThatOfTheWholeGroup) {
  EXPECT_GE(group_waited_for_cores(::getpgrp()), waited_for_cores());
  EXPECT_EQ(group_waited_for_cores(1 << 30), 0);  // there is no such group
}

// Keeps every token, and takes five milliseconds for each that it holds.
constexpr std::string_view slower = R"(
  def take(self, token):
    self.ids.append(token)
    time.sleep(0.005 * len(self.ids))
    return list(self.ids))";

// Answers list what is stored, so that the time of a case grows with the square of its calls: five
// times as many take 23 times as long here.
TEST(CoreWait, ACaseWhoseAnswersGrowHasTimeForThem) {
  const auto family =
      make_process_family(cache_of(std::string(slower)), {.start_seconds = 30, .seconds = 1});
  ASSERT_TRUE(family) << family.error().message;
  const auto failure_of = [&](std::size_t calls) {
    std::string text = "sinks=0,recent=2,budget=90;stream=random;calls=f1";
    for (std::size_t i = 1; i < calls; ++i) text += ",f1";
    return run_case(**family, *parse_case(text))->failure;
  };
  EXPECT_EQ(failure_of(10), "");
  EXPECT_EQ(failure_of(50), "");
}

}  // namespace
}  // namespace kv::properties
