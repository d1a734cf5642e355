// The share of a sweep that all threads and ranks have done.
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/cli/sweep/blocks.h"

namespace kv::cli {

// Receives the share of the work that is done and the name of a trace, never two at once. If it
// returns false, the work ends after what is running was stopped.
using BlockProgress = std::function<bool(double share, const std::string& trace)>;

// Any thread may call it.
class SharedProgress {
 public:
  // Both must outlive it. `report` may be empty.
  SharedProgress(std::span<const SweepBlock> blocks, const BlockProgress& report);

  // The block is done up to this share, with a trace of this name. Returns whether the work
  // continues.
  bool update(std::size_t block, double share, const std::string& trace);

  // Asks again whether the work continues, without anything done.
  bool ask();

  // The work shall not continue.
  void stop();

  [[nodiscard]] bool stopped() const;

 private:
  std::span<const SweepBlock> blocks_;
  const BlockProgress& report_;
  double total_ = 0;
  mutable std::mutex mutex_;  // of all below
  std::vector<double> done_;
  std::string trace_;
  double cost_ = 0;
  bool stopped_ = false;
};

}  // namespace kv::cli
