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
  // SA_RESTART keeps a write under way whole; SA_RESETHAND lets an impatient second signal end us.
  action.sa_flags = static_cast<int>(SA_RESTART | static_cast<unsigned>(SA_RESETHAND));
  sigaction(signal, &action, &old);
  // Whoever started us with the signal ignored (nohup, a shell's &) wants it ignored.
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
