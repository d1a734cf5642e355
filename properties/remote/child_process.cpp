#include "kvcheck/properties/remote/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "kvcheck/base/text/text.h"
#include "kvcheck/properties/cases/child.h"
#include "kvcheck/properties/cases/core_wait.h"
#include "kvcheck/properties/stop.h"

namespace kv::properties {
namespace {

constexpr std::size_t most_last_words = 4000;  // bytes of standard error that are kept

void close_one(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

// A timer runs on for so long after it has rung, which tells how late that is seen.
constexpr time_t runs_on = 1'000'000;

void set(int timer, double seconds) {
  itimerspec when{};
  when.it_interval.tv_sec = runs_on;
  double whole = 0;
  const double rest = std::modf(std::max(seconds, 0.001), &whole);
  when.it_value.tv_sec = static_cast<time_t>(whole);
  when.it_value.tv_nsec = static_cast<long>(rest * 1e9);
  ::timerfd_settime(timer, 0, &when, nullptr);
}

// A descriptor that becomes readable after so many seconds. The kernel's own timer: no clock is
// read.
int timer_of(double seconds) {
  const int timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  set(timer, seconds);
  return timer;
}

double seconds_left(int timer) {
  itimerspec when{};
  ::timerfd_gettime(timer, &when);
  return static_cast<double>(when.it_value.tv_sec) +
         static_cast<double>(when.it_value.tv_nsec) * 1e-9;
}

// Of a timer that has rung: whether it did so long ago. This process was stopped meanwhile, by
// Ctrl-Z, a frozen container or a paused machine.
bool rang_long_ago(int timer) {
  constexpr double prompt = 0.5;
  return static_cast<double>(runs_on) - seconds_left(timer) > prompt;
}

std::string signal_words(int number) {
  return "was killed by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

std::string status_words(int status) {
  if (WIFSIGNALED(status)) return signal_words(WTERMSIG(status));
  // What a shell makes of a signal that killed its command.
  const int number = WEXITSTATUS(status) - 128;
  if (number > 0 && number < NSIG) return signal_words(number);
  const std::string exited = "exited with status " + std::to_string(WEXITSTATUS(status));
  return WEXITSTATUS(status) == 0 ? exited + " before it had answered" : exited;
}

struct Pipes {
  std::array<int, 2> in{-1, -1};  // a socket, so that writing to a dead child is no signal
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};

  [[nodiscard]] bool open() {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) == 0 &&
           ::pipe2(out.data(), O_CLOEXEC) == 0 && ::pipe2(err.data(), O_CLOEXEC) == 0;
  }

  void close_all() {
    for (auto* pair : {&in, &out, &err}) {
      for (int& descriptor : *pair) close_one(descriptor);
    }
  }
};

Result<std::unique_ptr<Child>> start(const std::function<void(const Pipes&)>& in_child) {
  Pipes pipes;
  const auto failed = [&](std::string_view what) {
    const std::string why = std::strerror(errno);
    pipes.close_all();
    return io_error(std::string(what) + ": " + why);
  };
  if (!pipes.open()) return failed("cannot open pipes to a child process");
  const pid_t process = ::fork();
  if (process < 0) return failed("cannot start a child process");
  if (process == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    in_child(pipes);
    ::_exit(127);
  }
  ::setpgid(process, process);  // in the parent too: either may run first
  close_one(pipes.in[1]);
  close_one(pipes.out[1]);
  close_one(pipes.err[1]);
  for (const int descriptor : {pipes.in[0], pipes.out[0], pipes.err[0]}) {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  }
  return std::make_unique<Child>(process, pipes.in[0], pipes.out[0], pipes.err[0]);
}

// Appends what can be read now, but not all that a writer without end has. False at the end.
bool drain(int descriptor, std::string& text) {
  std::array<char, 65536> bytes;
  constexpr int most_reads = 16;
  for (int i = 0; i < most_reads; ++i) {
    const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
    if (count > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
    } else {
      return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<Child>> Child::run_command(const std::string& command) {
  return start([&](const Pipes& pipes) {
    ::dup2(pipes.in[1], STDIN_FILENO);
    ::dup2(pipes.out[1], STDOUT_FILENO);
    ::dup2(pipes.err[1], STDERR_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  });
}

Result<std::unique_ptr<Child>> Child::run_function(const std::function<void(int, int)>& body) {
  return start([&](const Pipes& pipes) {
    constexpr int in = 3;
    constexpr int out = 4;
    // Above what they are moved to, so that no move overwrites another.
    const int from = ::fcntl(pipes.in[1], F_DUPFD, 64);
    const int to = ::fcntl(pipes.out[1], F_DUPFD, 64);
    const int err = ::fcntl(pipes.err[1], F_DUPFD, 64);
    const int none = ::open("/dev/null", O_RDONLY);
    ::dup2(none, STDIN_FILENO);
    ::dup2(err, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::dup2(from, in);
    ::dup2(to, out);
    ::close_range(5, ~0U, 0);  // the other children's pipes are not its own
    die_of_signals();
    body(in, out);
    ::_exit(0);
  });
}

Child::~Child() {
  close_one(to_);  // the end of its input: time to go
  if (process_ > 0) {
    bool reaped = false;
    for (int tries = 0; tries < 20 && !reaped; ++tries) {
      reaped = ::waitpid(process_, nullptr, WNOHANG) != 0;
      if (!reaped) ::poll(nullptr, 0, 5);
    }
    ::kill(-process_, SIGKILL);
    if (!reaped) ::waitpid(process_, nullptr, 0);
  }
  close_one(from_);
  close_one(errors_);
}

std::string Child::exchange(std::string_view& rest, int timer) {
  std::array<pollfd, 4> polled = {{
      {.fd = timer, .events = POLLIN, .revents = 0},
      {.fd = from_, .events = POLLIN, .revents = 0},
      {.fd = errors_, .events = POLLIN, .revents = 0},
      {.fd = rest.empty() ? -1 : to_, .events = POLLOUT, .revents = 0},
  }};
  constexpr int milliseconds = 100;  // between two looks at whether the user wants to stop
  if (::poll(polled.data(), polled.size(), may_be_stopped() ? milliseconds : -1) <= 0) return {};
  if (polled[2].revents != 0 && !drain(errors_, last_words_)) close_one(errors_);
  if (last_words_.size() > 2 * most_last_words) {
    last_words_.erase(0, last_words_.size() - most_last_words);
  }
  if (polled[1].revents != 0) {
    const std::size_t before = answers_.size();
    if (!drain(from_, answers_) && answers_.find('\n', before) == std::string::npos) {
      return "ended";
    }
  }
  if (polled[3].revents != 0) {
    const ssize_t sent = ::send(to_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
    // One that cannot be written to may have said its last words all the same.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) rest = {};
  }
  return polled[0].revents != 0 ? "late" : "";
}

Result<std::string> Child::ask(std::string_view line, double seconds, std::size_t longest) {
  if (!alive()) return io_error("the child process is gone");
  std::string message(line);
  message += '\n';
  std::string_view rest = message;
  int timer = timer_of(seconds);
  std::size_t searched = 0;  // no line ends before
  for (;;) {
    const std::size_t end = answers_.find('\n', searched);
    searched = std::min(end, answers_.size());
    if (std::min(end, answers_.size()) > longest) {
      close_one(timer);
      answers_.clear();
      return gone("wrote a line of more than " + std::to_string(longest) + " bytes");
    }
    if (end != std::string::npos && rest.empty()) {
      std::string answer = answers_.substr(0, end);
      answers_.erase(0, end + 1);
      const double left = seconds_left(timer);
      last_ = left > seconds ? seconds : seconds - left;  // one that has rung runs on
      slowest_ = std::max(slowest_, last_);
      close_one(timer);
      return answer;
    }
    const std::string stopped = exchange(rest, timer);
    const bool interrupted = asked_to_stop();
    if (stopped.empty() && !interrupted) continue;
    if (stopped == "late" && !interrupted && has_more_time(timer, seconds)) continue;
    close_one(timer);
    if (interrupted) throw Interrupted();
    return gone(stopped == "late"
                    ? "gave no answer within " + shortest(std::ceil(10 * seconds) / 10) + " s"
                    : "");
  }
}

bool Child::has_more_time(int timer, double seconds) {
  constexpr double little = 0.05;
  const bool stopped = rang_long_ago(timer);
  const double waited = group_waited_for_cores(process_);
  const double more = waited - waited_before_;
  if (!stopped && more <= little) return false;
  waited_before_ = waited;
  set(timer, stopped ? seconds : more);
  return true;
}

std::string Child::unasked() {
  if (alive()) static_cast<void>(drain(from_, answers_));
  return answers_;
}

Error Child::gone(std::string how) {
  if (!how.empty()) ::kill(-process_, SIGKILL);
  // One that only closed its output is not waited for longer than it takes to see that.
  int status = 0;
  pid_t reaped = 0;
  for (int tries = 0; tries < 100 && reaped == 0; ++tries) {
    reaped = ::waitpid(process_, &status, WNOHANG);
    if (reaped == 0) ::poll(nullptr, 0, 5);
  }
  if (reaped == 0) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, &status, 0);
    how = "closed its output and ran on";
  }
  ::kill(-process_, SIGKILL);  // what it started
  process_ = -1;
  if (how.empty()) how = status_words(status);
  if (errors_ >= 0) drain(errors_, last_words_);
  while (last_words_.ends_with('\n')) last_words_.pop_back();
  if (last_words_.size() > most_last_words) {
    last_words_.erase(0, last_words_.size() - most_last_words);
  }
  std::string sentence = "the subject's process " + how;
  if (!last_words_.empty()) sentence += "; its standard error ends:\n" + last_words_;
  return io_error(std::move(sentence));
}

}  // namespace kv::properties
