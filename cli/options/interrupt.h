// SIGINT and SIGTERM as a request that long work can poll.
#pragma once

namespace kv::cli {

// While an object of this class exists, the first SIGINT or SIGTERM is recorded instead of ending
// the program; a second one of the same kind ends it as usual. A signal that was ignored is still
// ignored. Several objects may exist, on any threads; when the last one ends, the signals are
// handled as before the first.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();
};

// Whether a signal was recorded since the program started or since forget_interrupt(). May be
// called from any thread.
bool interrupted();

// Does nothing while there is an InterruptGuard: the signal is meant for that work, too.
void forget_interrupt();

}  // namespace kv::cli
