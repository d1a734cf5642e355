#include "kvcheck/cli/options/own_time.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kv::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

void spin(double seconds) {
  for (const auto begun = Clock::now(); seconds_since(begun) < seconds;) continue;
}

// What shares one processor with this thread until it is destroyed.
class Competitor {
 public:
  Competitor() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    }
    ::sched_setaffinity(0, sizeof(one), &one);
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) spin(1);
    }
  }

  Competitor(const Competitor&) = delete;
  Competitor& operator=(const Competitor&) = delete;

  ~Competitor() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::sched_setaffinity(0, sizeof(before_), &before_);
  }

 private:
  cpu_set_t before_{};
  pid_t child_ = 0;
};

TEST(OwnTime, CountsSleepAndWork) {
  const OwnTime time;
  const double before = time();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const double slept = time() - before;
  EXPECT_GE(slept, 0.05);
}

TEST(OwnTime, IsAtMostAllTime) {
  const auto begun = Clock::now();
  const OwnTime time;
  spin(0.02);
  EXPECT_LE(time(), seconds_since(begun));
}

// Two that compute on one processor have half of it each.
TEST(OwnTime, LeavesOutWhatOthersComputed) {
  const Competitor competitor;
  const auto begun = Clock::now();
  const OwnTime time;
  spin(0.6);
  EXPECT_LT(time(), 0.8 * seconds_since(begun));
  EXPECT_GE(time(), seconds_since(begun) / 8 - 0.001);
}

// What a forked child waited is left out for its parent, too, also after the child has ended.
TEST(OwnTime, IsOneClockForForkedChildren) {
  const auto begun = Clock::now();
  const OwnTime time;
  {
    const Competitor competitor;
    const pid_t child = ::fork();
    if (child == 0) {
      spin(0.6);
      ::_exit(time() < 0.8 * seconds_since(begun) ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LT(time(), 0.8 * seconds_since(begun));
}

}  // namespace
}  // namespace kv::cli
