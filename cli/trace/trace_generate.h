// kvcheck trace generate: a synthetic stream as a trace file.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command trace_generate_command;

}  // namespace kv::cli
