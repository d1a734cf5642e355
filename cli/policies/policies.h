// kvcheck policies: what there is to choose from.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

// Lists every policy and preset, or tells all about the named ones; text or one JSON object a line.
extern const Command policies_command;

}  // namespace kv::cli
