#include "kvcheck/cli/sweep/block_progress.h"

namespace kv::cli {

SharedProgress::SharedProgress(std::span<const SweepBlock> blocks, const BlockProgress& report)
    : blocks_(blocks), report_(report), done_(blocks.size()) {
  for (const SweepBlock& block : blocks) total_ += block.cost;
}

bool SharedProgress::update(std::size_t block, double share, const std::string& trace) {
  const std::lock_guard lock(mutex_);
  cost_ += (share - done_[block]) * blocks_[block].cost;
  done_[block] = share;
  trace_ = trace;
  if (!stopped_ && report_ && !report_(cost_ / total_, trace_)) stopped_ = true;
  return !stopped_;
}

bool SharedProgress::ask() {
  const std::lock_guard lock(mutex_);
  if (!stopped_ && report_ && total_ > 0 && !report_(cost_ / total_, trace_)) stopped_ = true;
  return !stopped_;
}

void SharedProgress::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

bool SharedProgress::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace kv::cli
