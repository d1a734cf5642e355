// What `record` reads, what it says of it, and the name of the run for one that continues it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::cli {

// The tokens to record. Notes, unless --quiet is given, say what of the options the text does not
// have.
Result<std::vector<model::TokenId>> recorded_tokens(const Arguments& arguments,
                                                    const OpenedModel& opened,
                                                    Streams& streams);

// The options of the table that decide the numbers, the model's files and the tokens, as one text.
// Cost: reads all weights.
Result<std::string> identity_of(const Arguments& arguments,
                                std::span<const Option> table,
                                std::span<const model::TokenId> tokens);

}  // namespace kv::cli
