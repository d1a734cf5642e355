// kvcheck record: a trace of a model that reads a text.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command record_command;

}  // namespace kv::cli
