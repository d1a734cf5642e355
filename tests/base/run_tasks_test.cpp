#include "kvcheck/base/threads/run_tasks.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>

namespace kv {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Lt;
using testing::SizeIs;

// The square of each task's index, in the order of the indices.
std::vector<std::size_t> squares(std::size_t count,
                                 std::size_t threads,
                                 const TaskHooks& hooks = {}) {
  std::vector<std::size_t> results(count);
  const Result<void> done = run_tasks(
      count, threads,
      [&](const RunningTask& task) -> Result<void> {
        results[task.index()] += task.index() * task.index();
        return {};
      },
      hooks);
  EXPECT_TRUE(done.has_value());
  return results;
}

// Makes so many threads, then has none left.
TaskHooks at_most(std::size_t threads, std::size_t& made) {
  return {.make_thread = [threads, &made](const std::function<void()>& work) {
    if (made == threads) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    ++made;
    return std::jthread(work);
  }};
}

TEST(RunTasks, EveryTaskRunsOnceWithTheSameResultsOnOneToEightThreads) {
  const std::vector<std::size_t> expected = squares(1000, 1);
  EXPECT_EQ(expected[999], 998001U);
  for (std::size_t threads = 2; threads <= 8; ++threads)
    EXPECT_EQ(squares(1000, threads), expected);
}

TEST(RunTasks, NoTasksAreDoneAtOnce) {
  EXPECT_THAT(squares(0, 1), IsEmpty());
  EXPECT_THAT(squares(0, 8), IsEmpty());
}

TEST(RunTasks, NoMoreThreadsAreMadeThanThereAreTasks) {
  std::size_t made = 0;
  EXPECT_THAT(squares(3, 64, at_most(64, made)), ElementsAre(0, 1, 4));
  EXPECT_EQ(made, 2U) << "the caller's thread is the third";
}

TEST(RunTasks, AThreadThatCannotBeMadeLeavesTheWorkToTheOthers) {
  const std::vector<std::size_t> expected = squares(100, 1);
  for (std::size_t available = 0; available < 4; ++available) {
    std::size_t made = 0;
    EXPECT_EQ(squares(100, 8, at_most(available, made)), expected);
    EXPECT_EQ(made, available);
  }
}

TEST(RunTasks, WorkersWithTheSameNumberNeverRunAtTheSameTime) {
  std::vector<std::atomic<int>> running(4);
  std::atomic<bool> together = false;
  std::mutex mutex;
  std::vector<std::size_t> workers;
  const Result<void> done = run_tasks(200, 4, [&](const RunningTask& task) -> Result<void> {
    if (running[task.worker()]++ != 0) together = true;
    {
      const std::lock_guard lock(mutex);
      workers.push_back(task.worker());
    }
    --running[task.worker()];
    return {};
  });
  EXPECT_TRUE(done.has_value());
  EXPECT_FALSE(together);
  EXPECT_THAT(workers, SizeIs(200));
  EXPECT_THAT(workers, Each(Lt(4U)));
}

// The later a task, the sooner it fails: so on several threads higher indices fail first.
Result<void> fail_late(const RunningTask& task) {
  std::this_thread::sleep_for(std::chrono::milliseconds(40 - 4 * task.index()));
  return usage_error("task " + std::to_string(task.index()));
}

TEST(RunTasks, TheErrorIsThatOfTheFirstTaskThatFailsOnAnyNumberOfThreads) {
  for (std::size_t threads = 1; threads <= 8; ++threads) {
    const Result<void> done = run_tasks(8, threads, [](const RunningTask& task) -> Result<void> {
      if (task.index() < 2) return {};
      return fail_late(task);
    });
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().message, "task 2") << threads;
  }
}

TEST(RunTasks, AnExceptionIsThrownHereOnceAllThreadsHaveEnded) {
  for (std::size_t threads = 1; threads <= 8; ++threads) {
    std::atomic<int> running = 0;
    std::string thrown;
    try {
      static_cast<void>(run_tasks(8, threads, [&](const RunningTask& task) -> Result<void> {
        ++running;
        const Result<void> failed = task.index() < 3 ? Result<void>() : fail_late(task);
        --running;
        if (!failed) throw std::runtime_error(failed.error().message);
        return {};
      }));
    } catch (const std::runtime_error& error) {
      thrown = error.what();
    }
    EXPECT_EQ(thrown, "task 3") << threads;
    EXPECT_EQ(running, 0);
  }
}

TEST(RunTasks, AnExceptionBeforeAnErrorWins) {
  const auto task = [](const RunningTask& running) -> Result<void> {
    if (running.index() == 5) return usage_error("5");
    if (running.index() == 4) throw std::runtime_error("4");
    return {};
  };
  for (const std::size_t threads : {1U, 4U}) {
    EXPECT_THROW(static_cast<void>(run_tasks(8, threads, task)), std::runtime_error);
  }
}

TEST(RunTasks, NoTaskIsBegunAfterAFailure) {
  std::size_t begun = 0;
  const Result<void> done = run_tasks(100, 1, [&](const RunningTask& task) -> Result<void> {
    ++begun;
    if (task.index() == 10) return usage_error("enough");
    return {};
  });
  EXPECT_FALSE(done.has_value());
  EXPECT_EQ(begun, 11U);
}

TEST(RunTasks, AStopIsHonouredBetweenTasks) {
  for (const std::size_t threads : {1U, 4U}) {
    std::stop_source stop;
    std::atomic<std::size_t> begun = 0;
    const auto task = [&](const RunningTask& running) -> Result<void> {
      ++begun;
      if (running.index() == 10) stop.request_stop();
      return {};
    };
    EXPECT_TRUE(run_tasks(100000, threads, task, {.stop = stop.get_token()}).has_value());
    EXPECT_GE(begun, 11U);
    EXPECT_LT(begun, 100000U);
  }
}

TEST(RunTasks, AStopBeforeTheFirstTaskLeavesAllUndone) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(squares(4, 2, {.stop = stop.get_token()}), Each(0U));
}

TEST(RunTasks, ALongTaskSeesThatItIsNoLongerNeeded) {
  // Task 1 waits until task 0 has failed; without stopped() it would wait for ever.
  const Result<void> done = run_tasks(2, 2, [](const RunningTask& task) -> Result<void> {
    if (task.index() == 0) return usage_error("first");
    while (!task.stopped()) std::this_thread::yield();
    return usage_error("second");
  });
  EXPECT_EQ(done.error().message, "first");
}

TEST(RunTasks, ProgressCountsUpToAllTasksAndMayStop) {
  std::vector<std::size_t> reported;
  squares(20, 4, {.progress = [&](std::size_t ended) {
            reported.push_back(ended);
            return true;
          }});
  std::vector<std::size_t> expected(20);
  std::iota(expected.begin(), expected.end(), 1U);
  EXPECT_EQ(reported, expected);

  const std::vector<std::size_t> some =
      squares(20, 1, {.progress = [](std::size_t ended) { return ended < 3; }});
  EXPECT_THAT(some, ElementsAre(0, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace kv
