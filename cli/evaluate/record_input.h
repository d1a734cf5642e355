// What `record` reads, what it says of it, and the name of the run for one that continues it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kvcheck/base/error.h"
#include "kvcheck/cli/model/model_options.h"
#include "kvcheck/cli/options/options.h"
#include "kvcheck/model/tokenizer/tokenizer.h"

namespace kv::cli {

struct RecordedText {
  std::vector<model::TokenId> tokens;
  // What the text does not have of what the options ask for, and whether it is longer than the
  // model's training: without "Note:" and the full stop.
  std::vector<std::string> notes;
};

// The tokens to record.
Result<RecordedText> recorded_text(const Arguments& arguments, const OpenedModel& opened);

// The options of the table that decide the numbers, the model's files and the tokens, as one text.
// Cost: reads all weights.
Result<std::string> identity_of(const Arguments& arguments,
                                std::span<const Option> table,
                                std::span<const model::TokenId> tokens);

}  // namespace kv::cli
