// kvcheck speed: how fast a model goes on what a policy leaves.
#pragma once

#include "cli/command.h"

namespace kv::cli {

extern const Command speed_command;

}  // namespace kv::cli
