// A child process that answers lines with lines: what runs code that may crash or hang.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kvcheck/base/error.h"

namespace kv::properties {

// Not thread-safe. The child is killed with all it started by the destructor.
class Child {
 public:
  // Runs a command line by the shell, its standard input and output being the lines.
  static Result<std::unique_ptr<Child>> run_command(const std::string& command);

  // Forks, and runs `body` with two descriptors, to read lines from and to write lines to. The
  // standard output of the child is its standard error, so that what libraries print is no answer.
  static Result<std::unique_ptr<Child>> run_function(const std::function<void(int, int)>& body);

  // Of a process that runs already; takes the descriptors over: to write to it, to read its answers
  // from, and its standard error.
  Child(pid_t process, int to, int from, int errors)
      : process_(process), to_(to), from_(from), errors_(errors) {}

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // Sends a line (without its newline) and waits for one at most `seconds`, those not counted in
  // which the child waited for a core. An error says how the
  // child ended ("killed by signal 11 (Segmentation fault)", "exited with status 1", "gave no
  // answer within 10 s", "wrote a line of more than 64 bytes") with the last lines of its standard
  // error; the child is gone then. Not much more than `longest` bytes are kept of any line. Throws
  // Interrupted (properties/stop.h) if the user asks to stop.
  Result<std::string> ask(std::string_view line, double seconds, std::size_t longest);

  [[nodiscard]] bool alive() const { return process_ > 0; }

  // What it has said without being asked; empty: nothing.
  std::string unasked();

  // How long the slowest answer took, and the last one.
  [[nodiscard]] double slowest_seconds() const { return slowest_; }

  [[nodiscard]] double last_seconds() const { return last_; }

 private:
  // Sends what it takes of `rest`, reads what there is, once something can be done or the timer has
  // run out. What stopped it, or an empty text.
  std::string exchange(std::string_view& rest, int timer);

  // Of a timer that has rung: whether its processes waited for cores meanwhile, or this process was
  // stopped. The timer then gives them as long once more, or all of the time.
  bool has_more_time(int timer, double seconds);

  // Kills and reaps; the whole sentence, with its last words.
  Error gone(std::string how);

  pid_t process_;
  int to_;
  int from_;
  int errors_;
  std::string answers_;     // read and not yet taken
  std::string last_words_;  // the end of its standard error
  double slowest_ = 0;
  double last_ = 0;
  double waited_before_ = 0;  // seconds for cores, as far as an answer was waited for longer
};

}  // namespace kv::properties
