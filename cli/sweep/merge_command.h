// kvcheck merge: joins the files of the shards of a sweep.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command merge_command;

}  // namespace kv::cli
