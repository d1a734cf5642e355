#include "kvcheck/cli/sweep/late_blocks.h"

#include <utility>

namespace kv::cli {

Result<void> LateBlocks::add(const FinishedBlock& finished) {
  const SweepBlock& block = finished.block;
  waiting_.push_back({.source = block.source, .places = block.cells, .result = finished.result});
  constexpr std::chrono::duration<double> together(0.1);
  const bool cheap = !at_once_ && finished.seconds < together.count();
  if (cheap && Clock::now() - stored_ < together) return {};
  return store();
}

Result<void> LateBlocks::store() {
  const std::vector<reports::FinishedCells> finished = std::exchange(waiting_, {});
  auto done = file_.add_all(finished);
  stored_ = Clock::now();
  return done;
}

}  // namespace kv::cli
