// Replays, and their results as text and arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvcheck/python/bindings/trace_arrays.h"

namespace kv::python {

// What is replayed: as the options of `kvcheck replay`.
struct ReplayRequest {
  std::vector<std::string> policies;
  std::vector<std::uint32_t> budgets;
  std::vector<std::uint64_t> seeds;
  std::uint32_t chunk = 0;  // 0: that of the specs
  bool oracle = false;
  std::size_t top_k = 16;
  unsigned threads = 0;  // 0: as many as the machine has
  std::string output;    // the results file to which the run is added; empty: none
  std::string command;   // what that file says made the run
};

// A dictionary: `lines` has the JSON lines that `kvcheck replay --json --per-head` writes; `cells`
// a dictionary of arrays for each cell; `dense` and `map` describe the trace; `left_out` names the
// policies of "all" that the trace cannot serve. Throws Failure with the program's sentence, and
// Interrupted after Ctrl-C. A Python policy's KeyboardInterrupt is passed on.
pybind11::dict replay_trace(const SharedTrace& trace, const ReplayRequest& request);

}  // namespace kv::python
