#include "cli/interrupt.h"

#include <atomic>

namespace kv::cli {
namespace {

std::atomic<bool> noted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void note(int /*signal*/) {
  noted = true;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action {};

  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  // SA_RESTART keeps a write under way whole; SA_RESETHAND lets an impatient second signal end us.
  action.sa_flags = static_cast<int>(SA_RESTART | static_cast<unsigned>(SA_RESETHAND));
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
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
