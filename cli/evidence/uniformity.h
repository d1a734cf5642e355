// kvcheck uniformity: is what a policy keeps a uniform sample?
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command uniformity_command;

}  // namespace kv::cli
