// SIGINT and SIGTERM as a request that long work can poll.
#pragma once

#include <csignal>

namespace kv::cli {

// While an object of this class exists, the first SIGINT or SIGTERM is recorded instead of ending
// the program; a second one of the same kind ends it as usual. A signal that was ignored is still
// ignored. At most one object may exist at a time.
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

// Whether a signal was recorded since the program started or since forget_interrupt(). May be
// called from any thread.
bool interrupted();

void forget_interrupt();

}  // namespace kv::cli
