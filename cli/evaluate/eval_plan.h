// The plan of `kvcheck eval`: its arguments, parsed and checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/cli/options/result_outputs.h"
#include "kvcheck/model/run/recall.h"
#include "kvcheck/sim/replay/closed_loop.h"

namespace kv::cli {

// The text as streams or windows, with the recall questions of each.
struct EvalText {
  std::size_t window = 0;  // 0: not cut
  std::vector<std::vector<model::TokenId>> streams;
  std::vector<std::vector<model::RecallQuestion>> questions;
};

struct EvalPlan {
  std::shared_ptr<const OpenedModel> opened;
  std::vector<Cell> cells;
  std::vector<EvalText> texts;
  ClosedLoopResult about;  // the fields that all results have in common
  model::DecoderOptions options;
  Outputs outputs;
  unsigned threads = 1;
  bool large_weights = false;  // so that cells read them together (cell_groups)
  bool open_loop = false;      // replay the dense runs, too
  bool quiet = false;
  bool resume = false;
  std::string command;             // the arguments that decide the numbers, for the results file
  std::vector<std::string> notes;  // about effects that the user may not have meant
};

// XXH3-64 of the tokens of all texts and of the table of their classes, which the tokenizer
// decides.
std::uint64_t checksum_of_tokens(const EvalPlan& plan);

// The same of this text alone, cut at one size of windows.
std::uint64_t checksum_of_tokens(const EvalPlan& plan, const EvalText& text);

// What a plan of several texts has already.
struct EvalGiven {
  std::shared_ptr<const OpenedModel> opened{};  // null: --model is opened
  std::vector<Cell> cells{};                    // empty: those of --policy, --budget and --seed
};

// Reports every error in arguments and files before the model runs. Requires arguments that were
// parsed with the table of `eval`.
Result<EvalPlan> plan_eval(const Arguments& arguments, EvalGiven given = {});

// Gives every cell the sizes that it has on the texts of the plan. Errors: it has none.
Result<void> size_cells(EvalPlan& plan);

// Tokens of the longest stream.
std::size_t longest_of(const EvalText& text);

}  // namespace kv::cli
