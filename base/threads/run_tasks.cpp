#include "kvcheck/base/threads/run_tasks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kvcheck/base/check.h"

namespace kv {

class TaskRun {
 public:
  TaskRun(std::size_t count,
          const std::function<Result<void>(const RunningTask&)>& task,
          const TaskHooks& hooks)
      : count_(count), task_(task), hooks_(hooks) {}

  // What each thread does.
  void work(std::size_t worker) {
    // Indices only grow, so once one of them is not needed, none that follows is.
    for (std::size_t i = next_++; i < count_ && !stopped(i); i = next_++) {
      try {
        if (const Result<void> done = task_({*this, i, worker}); !done) fail(i, done.error(), {});
        end_one();
      } catch (...) {
        fail(i, {}, std::current_exception());
      }
    }
  }

  [[nodiscard]] bool stopped(std::size_t index) const {
    return index > failed_ || stop_ || hooks_.stop.stop_requested();
  }

  // Requires that all threads have ended.
  [[nodiscard]] Result<void> outcome() const {
    if (exception_) std::rethrow_exception(exception_);
    if (error_) return *error_;
    return {};
  }

 private:
  void end_one() {
    if (!hooks_.progress) return;
    const std::lock_guard lock(mutex_);
    if (!hooks_.progress(++ended_)) stop_ = true;
  }

  void fail(std::size_t index, std::optional<Error> error, std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    if (index > failed_) return;
    failed_ = index;
    error_ = std::move(error);
    exception_ = std::move(exception);
  }

  std::size_t count_;
  const std::function<Result<void>(const RunningTask&)>& task_;
  const TaskHooks& hooks_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> failed_ = std::numeric_limits<std::size_t>::max();  // the lowest index
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;  // of all below
  std::size_t ended_ = 0;
  std::optional<Error> error_;  // of task failed_, or
  std::exception_ptr exception_;
};

bool RunningTask::stopped() const {
  return run_.stopped(index_);
}

Result<void> run_tasks(std::size_t count,
                       std::size_t threads,
                       const std::function<Result<void>(const RunningTask&)>& task,
                       const TaskHooks& hooks) {
  KV_CHECK(threads > 0);
  TaskRun run(count, task, hooks);
  {
    std::vector<std::jthread> others;
    const auto make = [&](const std::function<void()>& work) {
      return hooks.make_thread ? hooks.make_thread(work) : std::jthread(work);
    };
    try {
      others.reserve(std::min(threads, count));
      for (std::size_t worker = 1; worker < std::min(threads, count); ++worker) {
        others.push_back(make([&run, worker] { run.work(worker); }));
      }
    } catch (const std::exception&) {
      // No threads or no memory for more: those that there are, and this one, do all of the work.
    }
    run.work(0);
  }
  return run.outcome();
}

}  // namespace kv
