#include "kvcheck/properties/cases/child_time.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>

#include "kvcheck/properties/cases/core_wait.h"

namespace kv::properties {
namespace {

std::atomic<bool> is_child = false;
std::atomic<const char*> words_of_call = nullptr;  // of the call under way
static_assert(std::atomic<const char*>::is_always_lock_free, "a signal handler may not wait");

volatile double waited_before = 0;

double whole_time = 0;  // of the child, as stay_alive() last got it; 0: no limit

volatile double armed_for = 0;  // seconds that the child or the call under way has

// The timer runs on for so long after it has rung, which tells how late the signal is handled
// without reading a clock.
constexpr time_t runs_on = 1'000'000;

void set_timer(double seconds) {
  constexpr double longest = 1e9;  // which a time_t holds everywhere
  seconds = std::min(seconds, longest);
  itimerval timer{};
  timer.it_interval.tv_sec = runs_on;
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1'000'000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void arm(double seconds) {
  armed_for = seconds;
  set_timer(seconds);
}

double armed() {
  itimerval timer{};
  ::getitimer(ITIMER_REAL, &timer);
  return static_cast<double>(timer.it_value.tv_sec) +
         static_cast<double>(timer.it_value.tv_usec) * 1e-6;
}

void say(const char* text, std::size_t size) {
  static_cast<void>(::write(STDERR_FILENO, text, size) + 0);
}

// Whether the signal comes long after it was sent: the process was stopped meanwhile, by Ctrl-Z, a
// frozen container or a paused machine.
bool was_stopped() {
  constexpr double prompt = 0.5;
  return static_cast<double>(runs_on) - armed() > prompt;
}

// A busy machine is no fault of the subject: what it waited for cores is added to its time. Nor is
// a machine or a process that was stopped, after which it has all of its time again.
void out_of_time(int /*signal*/) {
  constexpr double little = 0.05;
  const double waited = waited_for_cores();
  const double more = waited - waited_before;
  waited_before = waited;
  if (was_stopped()) return set_timer(armed_for);
  if (more > little) return set_timer(more);
  if (const char* const words = words_of_call) {
    say("\n", 1);
    say(last_words.data(), last_words.size());
    say(words, std::strlen(words));
    say("\n", 1);
  }
  std::signal(SIGALRM, SIG_DFL);
  std::raise(SIGALRM);
}

}  // namespace

void stay_alive(double seconds) {
  if (seconds > 0) {
    waited_before = waited_for_cores();
    std::signal(SIGALRM, out_of_time);
  }
  whole_time = seconds;
  arm(seconds);
}

void begin_child_time() {
  is_child = true;
  whole_time = 0;
  words_of_call = nullptr;
}

TimedCall::TimedCall(const CallWords& words) : outer_(words_of_call) {
  if (!is_child) return;
  // No system call if the call has more time than the child ever had.
  const bool may_end_first = whole_time <= 0 || words.seconds < whole_time;
  if (may_end_first) left_ = armed();
  const bool ends_first = may_end_first && (left_ <= 0 || words.seconds < left_);
  words_of_call = ends_first ? words.slow.c_str() : words.hangs.c_str();
  if (!ends_first) return;
  limit_ = words.seconds;
  if (left_ <= 0) std::signal(SIGALRM, out_of_time);  // stay_alive() was not called
  arm(limit_);
}

TimedCall::~TimedCall() {
  if (!is_child) return;
  words_of_call = outer_;
  if (limit_ <= 0) return;
  // What was waited for cores lengthened the timer, so this is the time that the call itself took.
  const double taken = limit_ - armed();
  arm(left_ <= 0 ? 0 : std::max(left_ - taken, 0.001));
}

}  // namespace kv::properties
