// What the program does with a trace that it could open, with checks of the results.
#pragma once

#include <string>
#include <vector>

#include "kvcheck/traces/trace.h"

namespace kv::fuzz {

// Verifies the trace, saves it and a part of it and reads both back, and replays it. Does nothing
// with a trace of more than 64 tokens or 65,536 numbers.
void try_trace(const Trace& trace);

// The specs of one replay, and whether the replay must succeed.
struct TriedReplay {
  std::vector<std::string> specs;
  bool must_work = true;
};

// Replays the trace with its optimum. Shares of mass are in their range, and no policy retains more
// than the optimum.
void try_replay(const Trace& trace, const TriedReplay& replay);

}  // namespace kv::fuzz
