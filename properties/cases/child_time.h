// How long a child process may take, and what it was doing when it had taken that long.
#pragma once

#include <string>
#include <string_view>

namespace kv::properties {

// Within a child: it dies unless this is called again within so many seconds, those not counted in
// which it waited for a core. It has all of them again if it was stopped when they ended (Ctrl-Z, a
// paused machine). 0: no limit.
void stay_alive(double seconds);

// A call that may hang, in words for the child's parent.
struct CallWords {
  std::string hangs;   // if the child's own time ends in it, such as "evict() did not return"
  std::string slow;    // if the call's own limit ends first
  double seconds = 0;  // that limit, above 0
};

// Within a child: names the call that is under way. If the child dies in it because its time or
// the call's is over, run_in_child() gives the words too. In any other process nothing happens.
// Calls may nest. Cost: system calls, but none if the call has more time than the child.
class TimedCall {
 public:
  explicit TimedCall(const CallWords& words);
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;
  ~TimedCall();

 private:
  const char* outer_;  // the words of the call around this one
  double left_ = 0;    // of the child's time, when the call began; 0: no limit
  double limit_ = 0;   // seconds, if it is the call's own; else 0
};

// For what forks: the process is a child from now on.
void begin_child_time();

// What precedes the words on the last line that a child writes on its standard error.
inline constexpr std::string_view last_words = "kvcheck, out of time: ";

}  // namespace kv::properties
