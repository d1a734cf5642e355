#include "kvcheck/base/threads/team.h"

#include <algorithm>
#include <utility>

#include "kvcheck/base/check.h"
#include "kvcheck/base/threads/machine.h"

namespace kv {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `value` is no longer `old`.
void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old, int patience) {
  for (int i = 0; i < patience; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(std::size_t threads, const TeamOptions& options)
    : least_cost_(options.least_cost), before_part_(options.before_part) {
  KV_CHECK(threads > 0);
  // About 100 microseconds: longer than what lies between the steps of a token, and short enough
  // that a program that waits for something else leaves the processor. Where there are more threads
  // than cores, a thread that watches takes the time of one that works.
  constexpr int looks = 2000;
  patience_ = threads <= machine_threads() ? looks : 0;
  try {
    others_.reserve(threads - 1);
    for (std::size_t worker = 1; worker < threads; ++worker) {
      const auto serving = [this, worker] { serve(worker); };
      others_.push_back(options.make_thread ? options.make_thread(serving) : std::jthread(serving));
    }
  } catch (const std::exception&) {
    // No threads or no memory for more.
  }
}

Team::~Team() {
  ending_ = true;
  step_.fetch_add(1, std::memory_order_release);
  step_.notify_all();
}

std::size_t Team::grains_of(std::size_t count, std::size_t grain, std::size_t cost) const {
  if (others_.empty()) return std::max<std::size_t>(count, 1);
  // Several ranges a thread, so that one which is held up by other programs does fewer of them.
  constexpr std::size_t ranges = 4;
  const std::size_t fair = count / (ranges * size());
  const std::size_t least = least_cost_ / std::max<std::size_t>(cost, 1);
  const std::size_t length = std::max({fair, least, std::size_t{1}});
  return (length + grain - 1) / grain * grain;
}

void Team::work(std::size_t worker) {
  std::uint64_t left = left_.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(left) > 0) {
    if (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) continue;
    try {
      if (before_part_) before_part_();
      call_(context_, static_cast<std::uint32_t>(left) - 1, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!exception_) exception_ = std::current_exception();
    }
    ended_.fetch_add(1, std::memory_order_release);
    ended_.notify_one();
    left = left_.load(std::memory_order_acquire);
  }
}

void Team::serve(std::size_t worker) {
  for (std::uint32_t seen = 0; !ending_; seen = step_.load(std::memory_order_acquire)) {
    work(worker);
    wait_while(step_, seen, patience_);
  }
}

void Team::run_step(std::uint32_t count) {
  ended_.store(0, std::memory_order_relaxed);
  const std::uint64_t step = (left_.load(std::memory_order_relaxed) >> 32U) + 1;
  left_.store(step << 32U | count, std::memory_order_release);
  step_.store(static_cast<std::uint32_t>(step), std::memory_order_release);
  step_.notify_all();
  work(0);
  for (std::uint32_t ended = ended_.load(std::memory_order_acquire); ended < count;
       ended = ended_.load(std::memory_order_acquire)) {
    wait_while(ended_, ended, patience_);
  }
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

}  // namespace kv
