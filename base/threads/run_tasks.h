// Independent tasks on several threads.
//
// Tasks are begun in the order of their indices. When one fails, by an error or by an exception, no
// task of a higher index is begun any more, but all of a lower index still end. So the failure of
// the lowest index is always found, and it is the one that is reported: which one that is depends
// on the tasks alone, not on the number of threads or on their luck.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>

#include "kvcheck/base/error.h"

namespace kv {

class TaskRun;

// What a task knows of itself while it runs.
class RunningTask {
 public:
  RunningTask(const TaskRun& run, std::size_t index, std::size_t worker)
      : run_(run), index_(index), worker_(worker) {}

  [[nodiscard]] std::size_t index() const { return index_; }

  // Below the number of threads; tasks with the same number never run at the same time, so that
  // each thread may have state of its own.
  [[nodiscard]] std::size_t worker() const { return worker_; }

  // Whether the result is no longer needed: a stop was requested, or a task of a lower index
  // failed. A long task asks now and then, and may return at once.
  [[nodiscard]] bool stopped() const;

 private:
  const TaskRun& run_;
  std::size_t index_;
  std::size_t worker_;
};

struct TaskHooks {
  // A request ends the run after the tasks that are running.
  std::stop_token stop{};

  // Receives after each task how many have ended, never from two threads at once; false stops the
  // run.
  std::function<bool(std::size_t ended)> progress{};

  // Makes a thread that calls its argument, or throws; for tests of machines that have none left.
  std::function<std::jthread(const std::function<void()>&)> make_thread{};
};

// Runs task 0, ..., count - 1 on up to `threads` threads, the caller's among them. Where the
// machine gives no more threads (a container's limit, say), those that there are do all of the
// work. Returns once every thread has ended. Errors: that of the failed task of the lowest index;
// if it threw, its exception is thrown here. To be stopped is no error. Requires threads > 0.
Result<void> run_tasks(std::size_t count,
                       std::size_t threads,
                       const std::function<Result<void>(const RunningTask&)>& task,
                       const TaskHooks& hooks = {});

}  // namespace kv
