#include "kvcheck/cli/options/own_time.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

namespace kv::cli {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// How long the process has waited for a processor, in seconds; 0 if that is not known.
double waited_by(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/schedstat");
  double ran = 0;
  double waited = 0;
  return file >> ran >> waited ? waited * 1e-9 : 0;
}

}  // namespace

class OwnTime::Waits {
 public:
  Waits() {
    // Shared with the children that are forked from now on, which add what they wait themselves.
    void* const page = ::mmap(nullptr, sizeof(std::atomic<double>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) total_ = std::construct_at(static_cast<std::atomic<double>*>(page));
    seen_[::getpid()] = waited_by(::getpid());
  }

  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

  ~Waits() {
    if (total_ != nullptr) ::munmap(total_, sizeof(*total_));
  }

  double own_time() {
    const std::lock_guard lock(mutex_);
    const double all = now() - begun_;
    if (total_ == nullptr) return all;
    if (process_ != ::getpid()) {
      // A forked child: its own count begins at zero, and others count for the parent.
      process_ = ::getpid();
      seen_.clear();
    }
    add(process_);
    return std::max(all / 8, all - total_->load());
  }

 private:
  // Adds what the process and those that it started have waited since the last call. Children that
  // call this themselves are counted by themselves: they share this program's name.
  void add(pid_t process) {
    const double waited = waited_by(process);
    double& before = seen_[process];
    if (waited > before) total_->fetch_add(waited - before);
    before = waited;
    const std::string name = std::to_string(process);
    std::ifstream file("/proc/" + name + "/task/" + name + "/children");
    for (pid_t child = 0; file >> child;) {
      if (!is_copy(child)) add(child);
    }
  }

  // Whether the process is a forked child of this program, and not another program.
  [[nodiscard]] bool is_copy(pid_t child) const {
    std::string own;
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(process_) + "/cmdline") >> std::ws, own);
    std::getline(std::ifstream("/proc/" + std::to_string(child) + "/cmdline") >> std::ws, name);
    return own == name;
  }

  double begun_ = now();
  pid_t process_ = ::getpid();
  std::atomic<double>* total_ = nullptr;  // seconds; null: not known
  std::mutex mutex_;
  std::map<pid_t, double> seen_;  // what was added of each process
};

OwnTime::OwnTime() : waits_(std::make_shared<Waits>()) {}

double OwnTime::operator()() const {
  return waits_->own_time();
}

}  // namespace kv::cli
