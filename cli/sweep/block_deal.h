// The blocks of a sweep, dealt one by one to the process that has time: this one and other ranks.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "kvcheck/cli/sweep/blocks.h"

namespace kv::cli {

// Any thread may call it.
class BlockDeal {
 public:
  explicit BlockDeal(std::span<const SweepBlock> blocks);

  // The index of the most costly block that no process has, so that the last blocks to end are
  // short. Nothing if there is none; one may be given back later.
  std::optional<std::size_t> take();

  // A block that was taken is not going to be finished by its taker.
  void give_back(std::size_t block);

  // A block that was taken is finished.
  void finish(std::size_t block);

  // Whether all blocks are finished.
  [[nodiscard]] bool finished() const;

 private:
  std::span<const SweepBlock> blocks_;
  mutable std::mutex mutex_;                          // of all below
  std::set<std::pair<double, std::size_t>> waiting_;  // by cost, the highest first; then by index
  std::size_t unfinished_;
};

}  // namespace kv::cli
