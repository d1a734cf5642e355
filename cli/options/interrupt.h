// SIGINT and SIGTERM as a request that long work can ask about.
#pragma once

#include <csignal>

namespace kv::cli {

// While one lives, the first SIGINT or SIGTERM is noted instead of ending the program; a second one
// of the same kind ends it as usual. A signal that is ignored stays ignored. At most one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

 private:
  struct sigaction old_int_ {};

  struct sigaction old_term_ {};
};

// Whether a signal was noted since the program started or forget_interrupt(). From any thread.
bool interrupted();

void forget_interrupt();

}  // namespace kv::cli
