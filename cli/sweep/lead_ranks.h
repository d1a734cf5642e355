// Rank 0 of a sweep: deals blocks to all ranks, its own threads among them.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/base/threads/run_tasks.h"
#include "kvcheck/cli/ranks/ranks.h"
#include "kvcheck/cli/sweep/block_deal.h"
#include "kvcheck/cli/sweep/run_blocks.h"

namespace kv::cli {

// The other ranks, as rank 0 knows them.
class Followers {
 public:
  explicit Followers(Ranks& ranks) : ranks_(ranks), states_(ranks.count()) {
    states_[0].machine = ranks.machine();
  }

  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  // Says that all is done, and waits until every rank has ended. What they still run is dropped.
  ~Followers();

  enum class State {
    silent,   // has not said whether it can work
    idle,     // can work
    running,  // has a block
    retired,  // runs no more blocks
    ended,
  };

  struct Follower {
    State state = State::silent;
    std::size_t block = 0;  // if running: its index
    std::string machine;
  };

  [[nodiscard]] Ranks& ranks() const { return ranks_; }

  Follower& operator[](std::size_t rank) { return states_[rank]; }

  [[nodiscard]] std::span<Follower> all() { return states_; }

  // The next message, if there is one. A rank that ended is noted.
  std::optional<RankMessage> receive();

 private:
  Ranks& ranks_;
  std::vector<Follower> states_;  // by rank; of rank 0 only the machine is used
};

// One sweep on all ranks.
class LedSweep {
 public:
  // Receives a sentence about a rank that runs no more blocks.
  using Say = std::function<void(const std::string& sentence)>;

  // All must outlive it.
  LedSweep(Followers& followers,
           const SweepPlan& plan,
           std::span<const SweepBlock> blocks,
           const BlockHooks& hooks,
           const Say& say);

  // Runs all blocks, on so many threads of this process besides the other ranks. The results are
  // those of run_blocks(). A rank that fails gives its block back and runs no more; it is an error
  // only if no rank is left. Other errors: that of hooks.done; stopped.
  Result<void> run(std::size_t threads);

  // The least and the largest number of cells that a rank ran.
  [[nodiscard]] std::pair<std::size_t, std::size_t> cells_by_rank() const;

 private:
  Result<void> communicate();
  Result<void> compute(std::size_t threads);
  Result<void> take(const RankMessage& message);
  Result<void> store(std::size_t rank, std::size_t block, const reports::SweepResult& result);
  Result<void> finish(std::size_t rank, std::span<const std::byte> parts);
  void greet(std::size_t rank, std::span<const std::byte> bytes);
  void deal_to(std::size_t rank);
  void retire(std::size_t rank, std::string_view why);
  void say_retired(std::size_t rank, const std::string& machine, std::string_view why);
  [[nodiscard]] bool anybody_works() const;

  Followers& followers_;
  const SweepPlan& plan_;
  std::span<const SweepBlock> blocks_;
  const BlockHooks& hooks_;
  const Say& say_;
  BlockDeal deal_;
  SharedProgress progress_;
  std::mutex mutex_;                // of hooks_.done, say_ and all below
  std::string last_why_;            // of the rank that retired last
  std::vector<std::size_t> cells_;  // that each rank ran
};

}  // namespace kv::cli
