// kvcheck compare: paired tests over the texts of results files.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command compare_command;

}  // namespace kv::cli
