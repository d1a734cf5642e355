// kvcheck eval: perplexity of a model on a text, per policy.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command eval_command;

}  // namespace kv::cli
