// kvcheck trace: describes trace files, checks them, and makes new ones from them.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command trace_command;

}  // namespace kv::cli
