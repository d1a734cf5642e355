#include "kvcheck/base/threads/team.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace kv {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Le;

// Makes so many threads, then has none left.
TeamOptions at_most(std::size_t threads) {
  return {
      .make_thread = [threads, made = std::size_t{0}](const std::function<void()>& work) mutable {
        if (made == threads) {
          throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
        }
        ++made;
        return std::jthread(work);
      }};
}

TEST(Team, EveryPartRunsOnceInEveryStep) {
  for (std::size_t threads = 1; threads <= 5; ++threads) {
    Team team(threads);
    ASSERT_EQ(team.size(), threads);
    std::vector<std::size_t> sums(37);
    // Many short steps, so that threads are met awake, falling asleep and asleep.
    for (std::size_t step = 1; step <= 2000; ++step) {
      if (step % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      team.run(step % 38, [&](std::size_t i, std::size_t worker) {
        ASSERT_LT(worker, threads);
        sums[i] += step;
      });
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      std::size_t expected = 0;
      for (std::size_t step = 1; step <= 2000; ++step) expected += i < step % 38 ? step : 0;
      EXPECT_EQ(sums[i], expected) << threads << " " << i;
    }
  }
}

TEST(Team, PartsOfOneWorkerNeverRunAtTheSameTime) {
  Team team(4);
  std::vector<std::atomic<int>> running(team.size());
  std::atomic<int> together = 0;
  team.run(200, [&](std::size_t /*i*/, std::size_t worker) {
    if (running[worker]++ != 0) ++together;
    std::this_thread::yield();
    --running[worker];
  });
  EXPECT_EQ(together, 0);
}

// The second part begins only once the first runs: on one thread this would never end.
TEST(Team, PartsRunAtTheSameTime) {
  Team team(2);
  std::atomic<int> begun = 0;
  team.run(2, [&](std::size_t /*i*/, std::size_t /*worker*/) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 2);
}

TEST(Team, RangesCoverAllAndBeginAtMultiplesOfTheGrain) {
  Team team(3);
  for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 100U, 1000U}) {
    for (const std::size_t cost : {1U, 1000U, 1000000U}) {
      std::vector<int> met(count);  // ranges do not overlap, so no two threads write one number
      std::mutex mutex;
      std::set<std::size_t> begins;
      team.run_ranges(count, 16, cost, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) ++met[i];
        const std::lock_guard lock(mutex);
        begins.insert(begin);
      });
      EXPECT_THAT(met, Each(1)) << count;
      for (const std::size_t begin : begins) EXPECT_EQ(begin % 16, 0U);
      // A step that is too small to pay for other threads is one range.
      if (count > 0 && count * cost <= 1000) {
        EXPECT_EQ(begins.size(), 1U);
      }
      if (count == 1000 && cost >= 1000) {
        EXPECT_THAT(begins.size(), AllOf(Ge(9U), Le(16U)));
      }
    }
  }
}

TEST(Team, AnExceptionIsThrownOnceAndTheTeamWorksAgain) {
  for (const std::size_t threads : {1U, 3U}) {
    Team team(threads);
    const auto failing = [&] {
      team.run(50, [](std::size_t i, std::size_t /*worker*/) {
        if (i == 7) throw std::runtime_error("seven");
      });
    };
    EXPECT_THROW(failing(), std::runtime_error);
    std::atomic<int> ran = 0;
    team.run(50, [&](std::size_t /*i*/, std::size_t /*worker*/) { ++ran; });
    EXPECT_EQ(ran, 50);
  }
}

TEST(Team, ThreadsThatThereAreDoAllOfTheWork) {
  for (const std::size_t given : {0U, 1U, 2U}) {
    Team team(8, at_most(given));
    EXPECT_EQ(team.size(), given + 1);
    std::atomic<int> ran = 0;
    for (int step = 0; step < 100; ++step) {
      team.run(10, [&](std::size_t /*i*/, std::size_t /*worker*/) { ++ran; });
    }
    EXPECT_EQ(ran, 1000);
  }
}

}  // namespace
}  // namespace kv
