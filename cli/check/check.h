// kvcheck check: the battery of laws, tried on a subject.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command check_command;

}  // namespace kv::cli
