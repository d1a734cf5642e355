// Joins the files of the shards of one sweep.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "kvcheck/base/error.h"

namespace kv::reports {

struct Merged {
  std::size_t added = 0;   // cells that the output did not hold
  std::size_t shared = 0;  // cells that several files hold: with the same results, or other times
  std::size_t held = 0;    // cells of the output
  std::size_t total = 0;   // cells of the plan
  bool times = false;      // the sweep is of timings

  [[nodiscard]] bool complete() const { return held == total; }
};

// Receives the share that is done; false stops the merge.
using MergeProgress = std::function<bool(double share)>;

// Adds to the output every cell of the newest sweep in each input. The output then has the tables
// of a sweep that ran these cells itself. After an error, a run that was begun here is removed, and
// one that was continued keeps what it holds. Errors: an input without a sweep, or of another
// version of kvcheck, plan or trace; an input that is the output; two results of one cell that
// differ in a bit, naming the cell (of two times of one cell the first one is kept); those of
// open_to_write; stopped.
Result<Merged> merge_sweeps(std::span<const std::string> inputs,
                            const std::string& output,
                            const MergeProgress& progress = {});

}  // namespace kv::reports
