// kvcheck explore: one page that steps through the streams of a replay.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command explore_command;

}  // namespace kv::cli
