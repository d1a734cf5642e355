#include "kvcheck/cli/options/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>

namespace kv::cli {
namespace {

std::atomic<bool> noted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void note(int /*signal*/) {
  noted = true;
}

void take_over(int signal, struct sigaction& old) {
  struct sigaction action {};

  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  // SA_RESTART lets a write that has begun complete; SA_RESETHAND lets a second signal end the
  // program.
  action.sa_flags = static_cast<int>(SA_RESTART | static_cast<unsigned>(SA_RESETHAND));
  sigaction(signal, &action, &old);
  // A signal that was ignored when the program started (by nohup or a shell's &) must be ignored
  // still.
  if (old.sa_handler == SIG_IGN) sigaction(signal, &old, nullptr);
}

// Where the program is a Python module, several threads may each do work that can be interrupted.
struct Guards {
  std::mutex mutex;
  std::size_t count = 0;

  struct sigaction old_int {};

  struct sigaction old_term {};
};

Guards& guards() {
  static Guards all;
  return all;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  Guards& all = guards();
  const std::scoped_lock lock(all.mutex);
  if (all.count++ > 0) return;
  take_over(SIGINT, all.old_int);
  take_over(SIGTERM, all.old_term);
}

InterruptGuard::~InterruptGuard() {
  Guards& all = guards();
  const std::scoped_lock lock(all.mutex);
  if (--all.count > 0) return;
  sigaction(SIGINT, &all.old_int, nullptr);
  sigaction(SIGTERM, &all.old_term, nullptr);
}

bool interrupted() {
  return noted;
}

void forget_interrupt() {
  Guards& all = guards();
  const std::scoped_lock lock(all.mutex);
  if (all.count == 0) noted = false;
}

}  // namespace kv::cli
