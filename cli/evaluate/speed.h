// kvcheck speed: the speed of a model under each policy.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command speed_command;

}  // namespace kv::cli
