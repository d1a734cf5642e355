// Processes that are stopped for a while, as by Ctrl-Z or a frozen container, are no fault of a
// subject.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "kvcheck/properties/cases/child.h"
#include "kvcheck/properties/cases/child_time.h"
#include "kvcheck/properties/remote/child_process.h"

namespace kv::properties {
namespace {

constexpr useconds_t millisecond = 1000;

// Stops this process after `before` for as long as `stopped`, both in milliseconds. Returns at
// once.
pid_t stop_this_process(useconds_t before, useconds_t stopped) {
  const pid_t helper = ::fork();
  if (helper != 0) return helper;
  ::usleep(before * millisecond);
  ::kill(::getppid(), SIGSTOP);
  ::usleep(stopped * millisecond);
  ::kill(::getppid(), SIGCONT);
  ::_exit(0);
}

void be_stopped() {
  const pid_t helper = stop_this_process(0, 1200);
  while (::waitpid(helper, nullptr, 0) < 0) continue;
}

TEST(StoppedProcess, AChildHasAllOfItsTimeAgain) {
  EXPECT_EQ(run_in_child(
                [] {
                  stay_alive(0.2);
                  be_stopped();
                },
                {}),
            "");
}

TEST(StoppedProcess, ACallHasAllOfItsTimeAgain) {
  const CallWords words{.hangs = "", .slow = "slow", .seconds = 0.2};
  EXPECT_EQ(run_in_child(
                [&] {
                  const TimedCall call(words);
                  be_stopped();
                },
                {}),
            "");
}

void use_the_core(double seconds) {
  const std::clock_t begun = std::clock();
  while (static_cast<double>(std::clock() - begun) < seconds * CLOCKS_PER_SEC) continue;
}

// Waits for the core that another process uses, about as long as it uses it itself.
void share_a_core(double seconds) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ::sched_setaffinity(0, sizeof one, &one);
  const pid_t other = ::fork();
  use_the_core(seconds);
  if (other == 0) ::_exit(0);
  ::waitpid(other, nullptr, 0);
}

TEST(StoppedProcess, AChildThatAlsoWaitedForACoreHasAllOfItsTimeAgain) {
  EXPECT_EQ(run_in_child(
                [] {
                  stay_alive(0.6);
                  share_a_core(0.15);
                  be_stopped();
                  ::usleep(450 * millisecond);
                },
                {}),
            "");
}

TEST(StoppedProcess, AChildThatHangsAfterwardsIsFound) {
  EXPECT_EQ(run_in_child(
                [] {
                  stay_alive(0.2);
                  be_stopped();
                  for (volatile bool forever = true; forever;) continue;
                },
                {}),
            "it gave no answer in time");
}

// What a program answered to a host that was stopped from 50 ms to 1,250 ms and waits 500 ms.
std::string answer_of(const std::string& program) {
  return run_in_child(
      [&] {
        const auto child = Child::run_command(program);
        const pid_t helper = stop_this_process(50, 1200);
        const Result<std::string> answer = (*child)->ask("question", 0.5, 100);
        ::waitpid(helper, nullptr, 0);
        throw std::runtime_error(answer ? *answer : answer.error().message);
      },
      {});
}

TEST(StoppedProcess, AnAnswerThatCameMeanwhileIsTaken) {
  EXPECT_EQ(answer_of("read question; sleep 0.7; echo yes; sleep 5"), "it threw: yes");
}

TEST(StoppedProcess, AnAnswerIsWaitedForAsLongAgain) {
  EXPECT_EQ(answer_of("read question; sleep 1.5; echo yes; sleep 5"), "it threw: yes");
}

TEST(StoppedProcess, AProgramThatDoesNotAnswerAfterwardsIsFound) {
  EXPECT_THAT(answer_of("read question; sleep 5"), testing::HasSubstr("no answer within 0.5 s"));
}

}  // namespace
}  // namespace kv::properties
