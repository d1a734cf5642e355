// kvcheck sweep: the cells of a plan, run on all cores and kept one by one.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command sweep_command;

}  // namespace kv::cli
