// What the commands with a model know of policies that score a prompt while the model repeats it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/replay/sweep.h"

namespace kv::cli {

// Whether --policy all leaves the cell out where a model runs: such a policy at its defaults has no
// prompt to repeat.
bool is_without_prompt(const PlannedCell& planned);

// DecoderOptions::repeat_request if the policy of a cell needs it; otherwise empty.
std::vector<model::TokenId> repeat_request_for(const OpenedModel& opened,
                                               std::span<const Cell> cells);

// Notes if --policy all left such policies out, and if such a policy has no request.
std::vector<std::string> repeat_notes(const Arguments& arguments,
                                      std::span<const Cell> cells,
                                      std::span<const model::TokenId> request);

// An error if `open_loop` asks for a replay beside the run of the model that a spec does not allow.
Result<void> check_open_loop(bool open_loop, std::span<const Cell> cells);

}  // namespace kv::cli
