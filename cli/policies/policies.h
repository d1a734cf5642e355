// kvcheck policies: the policies and presets that exist.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

// Lists every policy and preset, or describes the named ones in full, as text or as one JSON object
// per line.
extern const Command policies_command;

}  // namespace kv::cli
