// The user's request to stop, which work of minutes looks for.
#pragma once

#include <functional>
#include <stdexcept>

namespace kv::properties {

// The user asked this process or its child to stop, by SIGINT or SIGTERM.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// While an object of this class exists, whatever waits for a subject calls `asked` some times a
// second, and throws Interrupted once the answer is yes. Without one, a signal ends the process as
// usual. At most one object may exist at a time; child processes have none.
class StopWhen {
 public:
  explicit StopWhen(bool (*asked)());
  StopWhen(const StopWhen&) = delete;
  StopWhen& operator=(const StopWhen&) = delete;
  ~StopWhen();
};

// Whether an object of StopWhen exists, so that waiting has to be cut into short pieces.
[[nodiscard]] bool may_be_stopped();

// Whether one exists whose answer is yes.
[[nodiscard]] bool asked_to_stop();

// Throws Interrupted if asked_to_stop().
void stop_if_asked();

// Does the work. No if it ended by Interrupted.
[[nodiscard]] bool ran_to_its_end(const std::function<void()>& work);

// What is asked from now on is not heard: by a process that is about to end, or by a child, which
// dies of signals itself.
void forget_stop();

}  // namespace kv::properties
