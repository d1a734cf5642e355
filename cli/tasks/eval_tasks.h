// kvcheck eval --tasks: what a model answers to items about a context under each policy.
#pragma once

#include "kvcheck/base/error.h"
#include "kvcheck/cli/options/command.h"
#include "kvcheck/cli/options/options.h"

namespace kv::cli {

// Requires arguments that were parsed with the table of `eval` and name a task file.
Result<void> run_eval_tasks(const Arguments& arguments, Streams& streams);

}  // namespace kv::cli
