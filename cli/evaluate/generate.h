// kvcheck generate: continues a text with a model.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command generate_command;

}  // namespace kv::cli
