#include "kvcheck/cli/sweep/block_deal.h"

namespace kv::cli {

BlockDeal::BlockDeal(std::span<const SweepBlock> blocks)
    : blocks_(blocks), unfinished_(blocks.size()) {
  for (std::size_t i = 0; i < blocks.size(); ++i) waiting_.emplace(-blocks[i].cost, i);
}

std::optional<std::size_t> BlockDeal::take() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return {};
  const std::size_t block = waiting_.begin()->second;
  waiting_.erase(waiting_.begin());
  return block;
}

void BlockDeal::give_back(std::size_t block) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(-blocks_[block].cost, block);
}

void BlockDeal::finish(std::size_t /*block*/) {
  const std::lock_guard lock(mutex_);
  --unfinished_;
}

bool BlockDeal::finished() const {
  const std::lock_guard lock(mutex_);
  return unfinished_ == 0;
}

}  // namespace kv::cli
