// Joins the parts of a replay as they come. Private to sim/.
#pragma once

#include <mutex>
#include <vector>

#include "kvcheck/sim/replay/replay_task.h"

namespace kv {

// Takes finished tasks from any thread and joins them in the order of the tasks, which no thread
// decides. A task that is early waits; since tasks are begun in order, few do, and what was joined
// is freed: a sweep holds the parts of about as many tasks as there are threads.
class Joiner {
 public:
  Joiner(const Plan& plan, std::vector<Task>& tasks);

  // The task of that index is finished.
  void finished(std::size_t task);

  // The whole result, once every task is finished.
  ReplayResult result();

 private:
  void join(Task& task);

  const Plan& plan_;
  std::vector<Task>& tasks_;
  std::vector<bool> done_;
  std::size_t next_ = 0;
  std::mutex mutex_;
  ReplayResult result_;
  std::vector<std::vector<SeriesSums>> series_;  // per cell
};

}  // namespace kv
