// kvcheck generate: lets a model go on with a text.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command generate_command;

}  // namespace kv::cli
