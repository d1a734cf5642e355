// kvcheck record: a trace of what a model does with a text.
#pragma once

#include "cli/command.h"

namespace kv::cli {

extern const Command record_command;

}  // namespace kv::cli
