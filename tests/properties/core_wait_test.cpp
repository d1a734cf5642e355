#include "kvcheck/properties/cases/core_wait.h"

#include <unistd.h>

#include "kvcheck/properties/history.h"
#include "kvcheck/properties/remote/process_family.h"
#include "kvcheck/tests/paths.h"

namespace kv::properties {
namespace {

// Its first token takes 0.6 seconds of a core that another process uses too, for four seconds.
constexpr std::string_view busy = R"(-c '
import kvcheck, os, time
class Cache:
  def __init__(self, budget):
    self.ids = []
  def append(self, tokens):
    return [self.take(token) for token in tokens]
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
    return list(self.ids)
  def kept(self):
    return self.ids
kvcheck.serve(Cache)')";

TEST(CoreWait, ABusyMachineIsNoHang) {
  const std::string command =
      "PYTHONPATH='" KVCHECK_SOURCE_DIR "/python' python3 " + std::string(busy);
  const auto family = make_process_family(command, {.start_seconds = 30, .seconds = 0.9});
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

}  // namespace
}  // namespace kv::properties
