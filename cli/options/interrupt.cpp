#include "kvcheck/cli/options/interrupt.h"

#include <atomic>

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

}  // namespace

InterruptGuard::InterruptGuard() {
  take_over(SIGINT, old_int_);
  take_over(SIGTERM, old_term_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
}

bool interrupted() {
  return noted;
}

void forget_interrupt() {
  noted = false;
}

}  // namespace kv::cli
