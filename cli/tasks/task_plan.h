// The plan of `kvcheck eval --tasks`: its arguments, parsed and checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/cli/tasks/task_items.h"
#include "kvcheck/model/tasks/answer_task.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::cli {

struct TaskPlan {
  std::shared_ptr<const OpenedModel> opened;
  std::vector<Cell> cells;
  TaskItems tasks;
  TaskResult about;  // all but the cells
  model::DecoderOptions options;
  std::size_t longest_answer = 0;  // from --answer-tokens; 0: each item's own
  std::string score;               // the one that tables show by group
  Outputs outputs;
  unsigned threads = 1;
  bool quiet = false;
  bool resume = false;
  std::string command;             // the arguments that decide the numbers, for the results file
  std::vector<std::string> notes;  // about effects that the user may not have meant

  // How the model answers under one cell. The plan outlives the result.
  [[nodiscard]] model::Answering answering(const Cell& cell) const;
};

// XXH3-64 of the tokens of all items and of the table of their classes, which the tokenizer
// decides.
std::uint64_t checksum_of_tokens(const TaskPlan& plan);

// What a plan of several task files has already.
struct TaskGiven {
  std::shared_ptr<const OpenedModel> opened{};  // null: --model is opened
  std::vector<Cell> cells{};                    // empty: those of --policy, --budget and --seed
};

// Reports every error in arguments and files before the model runs: a spec that has no sizes on an
// item, and an item that is longer than learned positions, too. Requires arguments that were parsed
// with the table of `eval` and name a task file.
Result<TaskPlan> plan_tasks(const Arguments& arguments, TaskGiven given = {});

}  // namespace kv::cli
