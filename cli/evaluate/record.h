// kvcheck record: a trace of what a model does with a text.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command record_command;

}  // namespace kv::cli
