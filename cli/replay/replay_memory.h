// What a replay holds in memory, for --memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/cli/options/memory.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

// Upper bounds of what the replays of these traces, one after another, hold at one time beside the
// traces themselves. At most about three times what they use; tests compare them with the peaks of
// real runs.
std::vector<MemoryNeed> replay_needs(std::span<const Trace> traces,
                                     std::span<const Cell> cells,
                                     const ReplayOptions& options);

// The same for one trace of which only this is known.
std::vector<MemoryNeed> replay_needs(const TraceInfo& trace,
                                     std::span<const Cell> cells,
                                     const ReplayOptions& options);

// The same of a source that is a synthetic stream, which is made in memory; nothing of a file.
std::vector<MemoryNeed> source_needs(const std::string& source);

}  // namespace kv::cli
