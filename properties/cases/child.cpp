#include "kvcheck/properties/cases/child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "kvcheck/properties/cases/child_time.h"
#include "kvcheck/properties/stop.h"

namespace kv::properties {
namespace {

constexpr int exit_done = 0;
constexpr int exit_threw = 99;

// What a child wrote on standard error: in a file without a name, which never blocks the writer.
class ErrorOutput {
 public:
  ErrorOutput() : file_(::memfd_create("kvcheck", MFD_CLOEXEC)) {}

  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;

  ~ErrorOutput() {
    if (file_ >= 0) ::close(file_);
  }

  void take_standard_error() const {
    if (file_ >= 0) ::dup2(file_, STDERR_FILENO);
  }

  [[nodiscard]] std::string last_line() const {
    std::array<char, 512> bytes{};
    const off_t end = file_ < 0 ? 0 : ::lseek(file_, 0, SEEK_END);
    const off_t begin = end > 500 ? end - 500 : 0;
    const ssize_t got = end <= 0 ? 0 : ::pread(file_, bytes.data(), 500, begin);
    std::string text(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }

 private:
  int file_;
};

// Writes to the child's standard error, which its parent reads.
void say(std::string_view what) {
  const std::string line = std::string(what) + "\n";
  static_cast<void>(::write(STDERR_FILENO, line.data(), line.size()) + 0);
}

// Beyond what is mapped now, since a sanitizer maps terabytes that it never uses.
void limit_memory() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return;
  unsigned long long numbers[6] = {};
  for (unsigned long long& number : numbers) {
    if (std::fscanf(file, "%llu", &number) != 1) break;
  }
  std::fclose(file);
  const rlim_t data = numbers[5] * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  rlimit limit{};
  if (data == 0 || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const auto half = static_cast<rlim_t>(::sysconf(_SC_PHYS_PAGES)) / 2 *
                    static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, data + std::min<rlim_t>(child_memory, half));
  ::setrlimit(RLIMIT_DATA, &limit);
}

[[noreturn]] void be_child(const std::function<void()>& work, const ErrorOutput& errors) {
  errors.take_standard_error();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no process would read its answer
  die_of_signals();
  begin_child_time();
  limit_memory();
  try {
    work();
  } catch (const std::exception& exception) {
    say(exception.what());
    ::_exit(exit_threw);
  } catch (...) {
    say("an exception of no known type");
    ::_exit(exit_threw);
  }
  ::_exit(exit_done);
}

std::string end_of(int status, const ErrorOutput& errors) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_done) return {};
  std::string text;
  const std::string said = errors.last_line();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    text = "it gave no answer in time";
    // Whatever else a subject printed before it hung says nothing about the hang.
    return said.starts_with(last_words) ? text + ": " + said.substr(last_words.size()) : text;
  }
  if (WIFSIGNALED(status)) {
    text = "it died of signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  } else if (WEXITSTATUS(status) == exit_threw) {
    text = "it threw";
  } else {
    text = "it left the process with status " + std::to_string(WEXITSTATUS(status));
  }
  return said.empty() ? text : text + ": " + said;
}

class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    std::fflush(nullptr);  // else the child would write what is buffered a second time
    process_ = ::fork();
    if (process_ == 0) be_child(work, errors_);
    if (process_ < 0) {
      throw std::system_error(errno, std::generic_category(), "cannot start a child process");
    }
  }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // A process that is not waited for any more would go on working in vain.
  ~Child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  // Waits for its end and returns what ended it; empty: it was done.
  std::string ended(const std::function<void()>& wait) {
    const int status = awaited(wait);
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM)) {
      // Meant for this process too, and no finding. If this process has noted the same signal
      // already, a second one would end it.
      stop_if_asked();
      ::raise(WTERMSIG(status));
      throw Interrupted();
    }
    return end_of(status, errors_);
  }

 private:
  // The status with which it ended.
  int awaited(const std::function<void()>& wait) {
    const bool polls = wait || may_be_stopped();
    int status = 0;
    useconds_t pause = 200;
    for (;;) {
      const pid_t got = ::waitpid(process_, &status, polls ? WNOHANG : 0);
      if (got < 0 && errno != EINTR) {
        process_ = -1;
        throw std::runtime_error("a child process was lost: " + std::string(std::strerror(errno)));
      }
      if (got == process_) break;
      if (!polls) continue;
      stop_if_asked();
      if (wait) wait();
      ::usleep(pause);
      if (pause < 5'000) pause *= 2;
    }
    process_ = -1;
    return status;
  }

  ErrorOutput errors_;
  pid_t process_ = -1;
};

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes)
    : bytes_(bytes),
      data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
  if (data_ == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot share memory with child processes");
  }
}

SharedMemory::~SharedMemory() {
  ::munmap(data_, bytes_);
}

std::string run_in_child(const std::function<void()>& work, const std::function<void()>& wait) {
  return Child(work).ended(wait);
}

std::string run_in_children(std::uint32_t count,
                            const std::function<void(std::uint32_t)>& work,
                            const std::function<void()>& wait) {
  std::vector<std::unique_ptr<Child>> children;
  children.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    try {
      children.push_back(std::make_unique<Child>([&work, i] { work(i); }));
    } catch (const std::system_error&) {
      if (i == 0) throw;
      break;
    }
  }
  std::string first;
  for (const auto& child : children) {
    const std::string end = child->ended(wait);
    if (first.empty()) first = end;
  }
  return first;
}

void die_of_signals() {
  forget_stop();
  for (const int signal : {SIGALRM, SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    // A parent that started us with the signal ignored (nohup, a shell's &) wants it ignored.
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace kv::properties
