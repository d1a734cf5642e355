// kvcheck speed: how fast a model goes on what a policy leaves.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command speed_command;

}  // namespace kv::cli
