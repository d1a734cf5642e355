// Joins the parts of a replay as they are finished. Private to sim/.
#pragma once

#include <mutex>
#include <vector>

#include "kvcheck/sim/replay/replay_task.h"

namespace kv {

// Accepts finished tasks from any thread and joins them in the order of the tasks, so that results
// do not depend on threads. A task that is early waits. Since tasks begin in order, few tasks wait,
// and joined parts are freed: a sweep holds the parts of about as many tasks as there are threads.
class Joiner {
 public:
  Joiner(const Plan& plan, std::vector<Task>& tasks);

  // Reports that the task with that index is finished. Thread-safe.
  void finished(std::size_t task);

  // The whole result. Requires that every task is finished.
  ReplayResult result();

 private:
  void join(Task& task);

  const Plan& plan_;
  std::vector<Task>& tasks_;
  std::vector<bool> done_;
  std::size_t next_ = 0;
  std::mutex mutex_;
  ReplayResult result_;
  std::vector<std::vector<SeriesSums>> series_;    // per cell
  std::vector<std::vector<HeadMetrics>> queries_;  // per cell, then recorded query: sums over heads
};

}  // namespace kv
