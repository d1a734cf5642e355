// What `kvcheck replay` is to do: its words, understood and checked.
#pragma once

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
  bool per_head = false;
  bool quiet = false;
  std::string command;  // the words that decide the numbers, for the results file
};

// Finds everything that can be wrong with the words and files before anything is written: counts,
// specs, cells, traces, budgets against lengths, outputs. Requires the table of `replay`.
Result<ReplayPlan> plan_replay(const Arguments& arguments);

// `word` as a POSIX shell reads it back.
std::string shell_word(const std::string& word);

}  // namespace kv::cli
