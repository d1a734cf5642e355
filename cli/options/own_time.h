// A clock for limits of work on a machine that has other work too.
#pragma once

#include <memory>

namespace kv::cli {

// Seconds since it was made, less those in which this process, or one that it started, was ready to
// run while the processors were given to others. What is computed and what is slept counts, so that
// a limit by this clock lets a busy machine do the work that it would let an idle one do. At most
// seven eighths are left out, so that a limit is always reached.
//
// Copies are one clock. So are those in child processes that were forked after it was made: what
// each of them waited is left out for all. Linux tells how long a process waits
// (/proc/PID/schedstat); elsewhere all time counts. A call takes some tens of microseconds.
class OwnTime {
 public:
  OwnTime();

  [[nodiscard]] double operator()() const;

 private:
  class Waits;
  std::shared_ptr<Waits> waits_;
};

}  // namespace kv::cli
