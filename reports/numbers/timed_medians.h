// Timings that were repeated, as one number for each spec and length.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/sim/replay/timing.h"

namespace kv::reports {

// All repetitions of one cell at one length.
struct TimedSummary {
  TimedCell median;  // of each number by itself; the mean of the two in the middle of an even count
  TimedCell least;   // likewise the smallest
  TimedCell most;
  std::size_t runs = 0;  // how many repetitions there are
};

// By cell, then length, in the orders in which the result has these first. Cost: sorts the
// repetitions.
std::vector<TimedSummary> timed_summaries(const TimingResult& result);

// The result with the medians in place of the repetitions, each with the repetition 1.
TimingResult medians_of(const TimingResult& result);

// "avx2 kernels on AMD EPYC, family 25, model 17"; empty if neither is known.
std::string machine_text(const TimedCell& cell);

// The same of all cells, joined by "; ". The shards of a sweep may be timed on several machines.
std::string machines_text(const TimingResult& result);

// How often the result timed each cell, at most.
std::size_t timed_runs(const TimingResult& result);

}  // namespace kv::reports
