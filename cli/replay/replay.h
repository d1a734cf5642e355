// kvcheck replay: recorded attention through a sweep of policies.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command replay_command;

}  // namespace kv::cli
