// kvcheck uniformity: is what a policy keeps a uniform sample?
#pragma once

#include "cli/command.h"

namespace kv::cli {

extern const Command uniformity_command;

}  // namespace kv::cli
