// kvcheck selftest: the battery tried on mutants and on right subjects.
#pragma once

#include "cli/command.h"

namespace kv::cli {

extern const Command selftest_command;

}  // namespace kv::cli
