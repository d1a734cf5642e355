// kvcheck write: lets a model go on with a text.
#pragma once

#include "cli/command.h"

namespace kv::cli {

extern const Command write_command;

}  // namespace kv::cli
