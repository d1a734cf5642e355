// kvcheck protocol: a program's messages held to the line protocol.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command protocol_command;

}  // namespace kv::cli
