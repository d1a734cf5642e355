// kvcheck tasks: makes items for kvcheck eval --tasks.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command tasks_command;

}  // namespace kv::cli
