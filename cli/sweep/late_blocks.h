// Finished blocks on their way to the results file. A block may take a millisecond, and a disk
// twenty times as long to be sure of its cells. So blocks that take less than a tenth of a second
// are stored together, ten times a second, which is all that a kill can cost.
#pragma once

#include <chrono>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/sweep/run_blocks.h"
#include "kvcheck/reports/sweeps/sweep_file.h"

namespace kv::cli {

class LateBlocks {
 public:
  // With `at_once` no block waits: no time can be measured again with the same result.
  LateBlocks(reports::SweepFile& file, bool at_once) : file_(file), at_once_(at_once) {}

  // Stores the block, now or with a later one.
  Result<void> add(const FinishedBlock& finished);

  // Stores those that are not stored yet.
  Result<void> store();

 private:
  using Clock = std::chrono::steady_clock;

  reports::SweepFile& file_;
  bool at_once_;
  Clock::time_point stored_ = Clock::now();
  std::vector<reports::FinishedCells> waiting_;
};

}  // namespace kv::cli
