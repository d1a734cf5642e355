// The plan of `kvcheck replay`: its arguments, parsed and checked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/sim/replay/replay.h"

namespace kv::cli {

struct ReplayPlan {
  std::vector<std::string> sources;
  std::vector<Trace> traces;
  std::vector<Cell> cells;
  ReplayOptions options;
  Outputs outputs;
  std::vector<std::vector<std::string>> left_out;  // per trace: policies of --policy all that it
                                                   // has no facts for
  std::vector<std::string> too_short;              // what is left out because a trace is too short,
                                                   // one sentence per trace
  std::vector<bool> kv_heads_known;                // per trace, as Dump::kv_heads_known
  bool per_head = false;
  bool quiet = false;
  bool resume = false;
  std::string command;  // the arguments that decide the numbers, for the results file
};

// Receives now and then which source is being read for its checksum, and the share that has been
// read.
using ReadingProgress = std::function<void(const std::string& source, double share)>;

// Reports every error in arguments and files before anything is written: counts, specs, cells,
// traces, outputs, and lengths below every budget (with --strict, below any). Requires arguments
// that were parsed with the table of `replay`.
Result<ReplayPlan> plan_replay(const Arguments& arguments, const ReadingProgress& progress = {});

// `word` as a POSIX shell reads it back.
std::string shell_word(const std::string& word);

}  // namespace kv::cli
