// kvcheck judge: the laws, tried on what a cache did in a recorded run.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command judge_command;

}  // namespace kv::cli
