// kvcheck protocol: a program's messages held to the line protocol.
#pragma once

#include "cli/command.h"

namespace kv::cli {

extern const Command protocol_command;

}  // namespace kv::cli
