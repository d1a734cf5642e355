// Threads for the steps of one computation, such as the layers of a model.
//
// run_tasks() makes threads for tasks that take milliseconds and more. The steps of one token take
// microseconds, so a team keeps its threads between steps. A thread without work watches for the
// next step for some microseconds, and then sleeps.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace kv {

struct TeamOptions {
  // Of run_ranges(): what a range costs at least. The usual one takes some microseconds, which is
  // several times what a step costs. Tests that want every step divided set 1.
  std::size_t least_cost = std::size_t{1} << 16;

  // As TaskHooks::make_thread.
  std::function<std::jthread(const std::function<void()>&)> make_thread{};

  // Called before each part; for tests that hold up a thread until the others take parts too.
  std::function<void()> before_part{};
};

class Team {
 public:
  // Of up to `threads` threads, the caller's among them. Where the machine gives no more, those
  // that there are do all of the work. Requires threads > 0.
  explicit Team(std::size_t threads, const TeamOptions& options = {});

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  // How many threads there are.
  [[nodiscard]] std::size_t size() const { return others_.size() + 1; }

  // Calls part(i, worker) for every i below `count`, once each and on any thread, and returns when
  // all have ended. `worker` is below size(); parts with the same one never run at the same time,
  // so that each thread may have scratch of its own. If parts throw, one of their exceptions is
  // thrown here. A part must not use the team itself, and only one thread at a time may. Cost: half
  // a microsecond while the threads are awake; none beyond a loop for a team or a count of one.
  // Requires a count below 2^32.
  template <typename Part>
  void run(std::size_t count, Part&& part) {
    if (count <= 1 || others_.empty()) {
      for (std::size_t i = 0; i < count; ++i) part(i, std::size_t{0});
      return;
    }
    using Plain = std::remove_reference_t<Part>;
    call_ = [](void* context, std::size_t index, std::size_t worker) {
      (*static_cast<Plain*>(context))(index, worker);
    };
    context_ = const_cast<void*>(static_cast<const void*>(std::addressof(part)));
    run_step(static_cast<std::uint32_t>(count));
  }

  // Calls part(begin, end, worker) for ranges that together are 0 to `count`; each begins at a
  // multiple of `grain`. `cost` is what one of the count costs, in multiplications or in bytes that
  // are read: a step that is too small to pay for other threads is one range.
  template <typename Part>
  void run_ranges(std::size_t count, std::size_t grain, std::size_t cost, Part&& part) {
    const std::size_t grains = grains_of(count, grain, cost);
    if (count == 0) return;
    run((count + grains - 1) / grains, [&](std::size_t i, std::size_t worker) {
      const std::size_t begin = i * grains;
      part(begin, begin + grains < count ? begin + grains : count, worker);
    });
  }

 private:
  void serve(std::size_t worker);
  void work(std::size_t worker);
  void run_step(std::uint32_t count);
  [[nodiscard]] std::size_t grains_of(std::size_t count, std::size_t grain, std::size_t cost) const;

  // Of the step under way; written before `left_`, which hands them over.
  void (*call_)(void* context, std::size_t index, std::size_t worker) = nullptr;
  void* context_ = nullptr;

  // The step's number in the upper half, and how many of its parts have not begun in the lower: a
  // thread that was held up for some steps cannot take a part of one that has ended. So a step
  // waits for parts only, and not for threads that have none.
  std::atomic<std::uint64_t> left_ = 0;
  std::atomic<std::uint32_t> step_ = 0;   // the same number; 32 bits, as the kernel waits for
  std::atomic<std::uint32_t> ended_ = 0;  // parts of this step
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;              // of the exception
  std::exception_ptr exception_;  // of a part of this step
  std::size_t least_cost_;
  std::function<void()> before_part_;
  int patience_ = 0;  // how often a thread looks before it sleeps
  std::vector<std::jthread> others_;
};

}  // namespace kv
