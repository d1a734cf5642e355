// kvcheck report: a results file as a folder of pages, figures and tables.
#pragma once

#include "kvcheck/cli/options/command.h"

namespace kv::cli {

extern const Command report_command;

}  // namespace kv::cli
