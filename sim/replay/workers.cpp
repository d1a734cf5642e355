#include "kvcheck/sim/replay/workers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace kv {
namespace {

// The first exception of any thread, for the thread that waits for all.
class FirstFailure {
 public:
  void keep(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }

  // Requires that no other thread runs any more.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

void on_threads(std::size_t count, const std::function<void()>& work) {
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < count; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The threads that are there do all of the work.
  }
  work();
}

}  // namespace

void run_in_order(std::size_t count,
                  std::size_t threads,
                  Progress& progress,
                  const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  FirstFailure failure;
  on_threads(std::min(threads, count), [&] {
    try {
      for (std::size_t i = next++; i < count && !progress.stopped(); i = next++) work(i);
    } catch (...) {
      failure.keep(std::current_exception());
      progress.stop();
    }
  });
  failure.rethrow();
}

}  // namespace kv
